// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Counts the connections of one listener, and decides which are too many.
final class ConnectionCount: Sendable {
    /// The number of connections beyond the limit that are accepted to be refused; further ones wait to be accepted.
    static let spare = 64
    /// The least time between two lines of the log about this.
    private static let interval = TimeAmount.seconds(10)

    private struct State {
        var open = 0
        var refused = 0
        var loggedAt: NIODeadline?
    }

    /// The most connections that are served.
    let limit: Int
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    /// Creates a count for connections of which `limit` are served at a time.
    init(limit: Int, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    /// The most connections that are accepted at a time.
    var accepted: Int { limit + Self.spare }

    /// The number of open connections.
    var open: Int { state.withLockedValue(\.open) }

    /// Counts a connection until it is closed.
    ///
    /// - Returns: True if it may be served.
    func enter(_ channel: any Channel) -> Bool {
        channel.closeFuture.whenComplete { [self] _ in state.withLockedValue { $0.open -= 1 } }
        let now = NIODeadline.now()
        let (isWelcome, refused) = state.withLockedValue { state -> (Bool, Int?) in
            state.open += 1
            guard state.open > limit else { return (true, nil) }
            state.refused += 1
            if let last = state.loggedAt, now - last < Self.interval { return (false, nil) }
            state.loggedAt = now
            defer { state.refused = 0 }
            return (false, state.refused)
        }
        if let refused {
            logger.warning(
                "connections are refused, since there are too many",
                metadata: ["code": "limit.connections", "limit": "\(limit)", "refused": "\(refused)"])
        }
        return isWelcome
    }
}
