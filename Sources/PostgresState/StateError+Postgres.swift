// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore

extension StateError {
    /// Returns the ``StateError`` for a failure of PostgreSQL; a ``StateError`` or a cancellation is returned
    /// unchanged.
    static func wrapping(_ error: any Error) -> any Error {
        switch error {
        case is StateError, is CancellationError: error
        case let error as PostgresError: StateError(error)
        default: StateError.failed("\(type(of: error))")
        }
    }

    init(_ error: PostgresError) {
        switch error {
        case .unreachable, .authentication, .invalidSettings, .shuttingDown, .connectionLost, .system:
            self = .unreachable(error.description)
        case .tooManyConnections, .queueFull, .timeout(.pool): self = .connections
        case .timeout(.call), .timeout(.statement): self = .slow
        case .timeout(.lock), .serialization: self = .busy
        case .readOnly: self = .standby
        case .diskFull: self = .full
        case .outcomeUnknown: self = .outcomeUnknown
        case .closed: self = .closed
        case .unexpectedValue: self = .corrupt("a column holds a value that it cannot have")
        // Data or an index are damaged.
        case .server(let state, let text) where state.hasPrefix("XX00"): self = .corrupt(text)
        // The system below the server failed, other than by a full disk.
        case .server(let state, let text) where state.hasPrefix("58"): self = .io(text)
        // A column is missing: something else than a gateway has changed the schema.
        case .statement("42703", let text): self = .corrupt(text)
        // The tables are missing, or the role may not see them: that may end by itself.
        case .statement(let state, let text) where ["42P01", "3F000"].contains(state):
            self = .unreachable("\(text), or its role has lost the right USAGE on the schema")
        // The role lacks a right.
        case .server("42501", let text), .statement("42501", let text): self = .readOnly(text)
        case .constraint, .statement, .rolledBack, .resultTooLarge, .server: self = .failed(error.description)
        }
    }
}

extension PostgresError {
    /// True if the transaction has changed nothing and may succeed when it is run again at once.
    var isWorthRepeating: Bool {
        switch self {
        case .serialization, .connectionLost, .shuttingDown: true
        // A prepared statement is unknown, or its result has changed with the schema.
        case .server(let state, _): ["0A000", "26000"].contains(state)
        case .statement(let state, _): state == "42P05"
        default: false
        }
    }
}
