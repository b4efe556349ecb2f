// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// What the handler of a connection, on its event loop, and the task that serves it tell each other.
final class ConnectionState: Sendable {
    /// Signalled when the client has gone.
    let hangUp = HangUp()
    private let isDrainingBox = NIOLockedValueBox(false)

    /// Whether the server shuts down: the running request is the connection's last.
    var isDraining: Bool { isDrainingBox.withLockedValue { $0 } }

    /// The server shuts down.
    func drain() { isDrainingBox.withLockedValue { $0 = true } }
}
