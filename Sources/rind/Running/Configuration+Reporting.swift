// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI

extension Configuration {
    /// Reads a configuration; everything that is wrong with it is printed on standard error.
    ///
    /// - Throws: ``CommandFailure`` with status 78 where it cannot be used.
    static func loadReporting(_ path: String) throws -> Configuration {
        let (configuration, diagnostics) = load(path: path)
        for diagnostic in diagnostics { Console.error(diagnostic.rendered) }
        guard let configuration else {
            let count = diagnostics.count { $0.severity == .error }
            throw CommandFailure(.configuration, "\(path) has \(count) \(count == 1 ? "mistake" : "mistakes").")
        }
        return configuration
    }
}
