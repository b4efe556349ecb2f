// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI

extension Configuration {
    /// Reads a configuration, and reports its mistakes on standard error.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - warns: True to report warnings as well, for commands that check or serve.
    ///   - log: The log for the reports; may take the configuration's format.
    /// - Returns: The configuration.
    /// - Throws: ``CommandFailure`` with status 78 if it cannot be used.
    static func loadReporting(_ path: String, warns: Bool, to log: StartLog = StartLog()) throws -> Configuration {
        try loadReportingText(path, warns: warns, to: log).configuration
    }

    /// Reads a configuration as ``loadReporting(_:warns:to:)`` does, and returns the file's bytes with it.
    static func loadReportingText(
        _ path: String, warns: Bool, to log: StartLog
    ) throws -> (configuration: Configuration, text: [UInt8]) {
        let (configuration, diagnostics, format, text) = load(path: path)
        log.use(format)
        for diagnostic in diagnostics where warns || diagnostic.severity == .error { log.report(diagnostic) }
        guard let configuration else {
            let count = diagnostics.count { $0.severity == .error }
            throw CommandFailure(.configuration, "\(path) has \(count) \(count == 1 ? "mistake" : "mistakes").")
        }
        return (configuration, text)
    }
}
