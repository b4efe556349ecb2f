// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The options that scenarios share.
struct RunOptions: ParsableArguments {
    @Flag(help: "Little of everything, to see that it works.")
    var quick = false

    @Flag(help: "Prints JSON to standard output, and the table to standard error.")
    var json = false
}
