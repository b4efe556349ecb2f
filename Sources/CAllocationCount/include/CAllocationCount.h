// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// Nothing to call: the library works by being preloaded (LD_PRELOAD), and says how many allocations the program has
// made in the first eight bytes of the file that ALLOCATION_COUNT names, which must be there and have so many.
