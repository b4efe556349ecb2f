// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Accounts
import Ledger

/// Lets the engine read the ledgers in the state.
extension ChunkReader: LedgerSource {}
