// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayConfig

/// `rind keys`.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Prints every key of the configuration with type, default, limits and meaning.",
        discussion: """
            EXAMPLES
              rind keys | less
              rind keys | grep -A4 idle_timeout

            The same stands in docs/CONFIGURATION.md; config/rind.ini has every key as a
            sample.
            """)

    func run() { Console.out(KeyTable.listing(), terminator: "") }
}
