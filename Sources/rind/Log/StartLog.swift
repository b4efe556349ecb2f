// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import INI
import Logging

/// Reports mistakes before a gateway serves, and why it ends: in sentences, or as lines of JSON if the
/// configuration asks for them.
final class StartLog {
    private let takesFormat: Bool
    private var logger: Logger?

    /// Creates a log that takes the format of the configuration, or keeps to sentences on a terminal.
    init(takesFormat: Bool = false) { self.takesFormat = takesFormat }

    /// Takes the format of a configuration, which may have mistakes elsewhere.
    func use(_ log: GatewayConfig.Configuration.Log) {
        guard takesFormat else { return }
        // What keeps a gateway from serving is logged at any level.
        logger = log.format == .json ? Logger(log, level: .info) : nil
    }

    /// Logs one mistake of a configuration.
    func report(_ diagnostic: Diagnostic) {
        guard let logger else { return Console.error(diagnostic.rendered) }
        logger.report(diagnostic)
    }

    /// Reports why the command ends.
    func report(_ failure: CommandFailure) {
        guard !failure.message.isEmpty else { return }
        guard let logger else { return Console.error("rind: \(failure.message)") }
        let code = failure.code ?? (failure.status == .configuration ? "config.error" : GatewayFault.unknown.rawValue)
        logger.critical(
            "\(failure.message)", metadata: ["code": "\(code)", "exit_status": "\(failure.status.rawValue)"])
    }
}
