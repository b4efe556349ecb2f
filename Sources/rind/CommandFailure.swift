// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Curl
import Gateway
import GatewayServer
import Ledger
import StateStore
import SyncMachines

/// The reason why a command ends early: a sentence for standard error, and the exit status.
struct CommandFailure: Error {
    var status: ExitStatus
    /// One or more sentences; empty where everything has been said.
    var message: String
    /// The stable code, if there is one.
    var code: String?

    init(_ status: ExitStatus, _ message: String, code: String? = nil) {
        self.status = status
        self.message = message
        self.code = code
    }

    /// Creates the failure of a command from any error.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as StateError: self.init(error)
        case let error as LedgerError:
            self.init(
                .inputOutput,
                "The ledger is damaged (\(error.rawValue)). 'rind replicas forget' drops it; the device then gets what "
                    + "[pull] unknown_cursor says.", code: error.rawValue)
        case PullFailure.clockBehind:
            self.init(
                .tryAgain,
                "The clock is behind the newest cursor in the state (pull.clock_behind). Set the clock right; "
                    + "nothing is handed out until it has passed that cursor. If it is right, and was ahead before: "
                    + "'rind state accept-clock'.", code: PullFailure.clockBehind.rawValue)
        case let error as KeyFailure:
            self.init(
                .configuration,
                "The state was written under another [identity] key (\(error.rawValue)). Under this one no device is "
                    + "recognised, and each would download everything again. Put the old key back; if it is lost: "
                    + "'rind state accept-key'.", code: error.rawValue)
        case let error as ServerError:
            self.init(.unavailable, "\(error.description.asSentence) (\(error.code))", code: error.code)
        case let error as CurlError: self.init(.system, "\(error)".asSentence, code: error.code)
        default: self.init(.internalError, "\(error)".asSentence)
        }
    }

    private init(_ error: StateError) {
        let status: ExitStatus =
            switch error {
            case .open, .readOnly: .cannotCreate
            case .inUse, .busy, .connections, .standby: .tryAgain
            case .unreachable: .unavailable
            default: .inputOutput
            }
        let remedy = (error.whoMayNot ?? error.advice)?.asSentence
        let message = [error.description, remedy, "(\(error.code))"].compactMap { $0 }.joined(separator: " ")
        self.init(status, message, code: error.code)
    }
}

/// Runs the body of a command; prints a failure on standard error and turns it into the exit status.
func reportingFailures(to log: StartLog = StartLog(), _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let code as ExitCode {
        throw code
    } catch {
        let failure = CommandFailure(error)
        log.report(failure)
        throw ExitCode(failure.status.rawValue)
    }
}

extension String {
    /// The text with a capital letter at its beginning and a full stop at its end.
    var asSentence: String {
        guard let first else { return self }
        let text = first.uppercased() + dropFirst()
        return text.hasSuffix(".") ? text : text + "."
    }
}
