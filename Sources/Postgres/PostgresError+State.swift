// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Errors from the server, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
extension PostgresError {
    /// Creates the error for a statement that the server has refused.
    init(state: String, message: String, constraint: String, isFatal: Bool) {
        let text = Self.clean(message)
        switch state {
        // Only the limit of the transaction cancels statements: a connection whose statement is cancelled by request is
        // closed, and nobody waits for the result.
        case "57014": self = .timeout(.statement)
        case "55P03": self = .timeout(.lock)
        case "25P03": self = .timeout(.call)
        case "40001", "40P01": self = .serialization(text)
        case "25006": self = .readOnly(text)
        case "53100": self = .diskFull(text)
        case "53300": self = .tooManyConnections(text)
        case "57P01", "57P02", "57P03": self = .shuttingDown(text)
        case "3D000": self = .authentication(text)
        default:
            switch state.prefix(2) {
            // A pooler's word for the loss of its own connection, and the server's for parameters that do not fit.
            case "08" where isFatal: self = .connectionLost(text)
            case "08": self = .statement(state: state, text: text)
            case "23": self = .constraint(name: Self.clean(constraint), state: state)
            case "28": self = .authentication(text)
            case "42": self = .statement(state: state, text: text)
            default: self = .server(state: state, text: text)
            }
        }
    }

    /// Creates the error for a connection that could not be opened, from libpq's message, for which the verbosity is
    /// set such that it holds the SQLSTATE: libpq offers no other way to it.
    init(connecting message: String, needsPassword: Bool) {
        let lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
        let text = lines.map { $0.trimmingSpaces() }.joined(separator: "; ")
        let state = message.firstMatch(of: #/:  ([0-9A-Z]{5}): /#).map { String($0.1) }
        let error = PostgresError(state: state ?? "08001", message: text, constraint: "", isFatal: true)
        switch error {
        case .authentication, .tooManyConnections: self = error
        case _ where needsPassword: self = .authentication(Self.clean(text))
        default: self = .unreachable(Self.clean(text))
        }
    }

    /// True if the connection must not be used again, although it is intact.
    ///
    /// A server that has become a standby is left, so that the next connection finds the new primary. A server that
    /// does not know a prepared statement any more, or has another plan for it, gets it anew on another connection.
    var spoilsConnection: Bool {
        switch self {
        case .readOnly, .shuttingDown, .connectionLost, .outcomeUnknown: true
        case .server(let state, _): ["0A000", "26000"].contains(state)
        case .statement(let state, _): state == "42P05"
        default: false
        }
    }

    /// Returns foreign text as it may stand in a log.
    static func clean(_ text: String) -> String { ForeignText.escaped(ForeignText.cut(text)) }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        let start = drop(while: \.isWhitespace)
        let end = start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex
        return start[..<end]
    }
}
