// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// What the handler of a connection, on its event loop, and the task that serves it tell each other.
final class ConnectionState: Sendable {
    /// Signalled when the client has gone.
    let hangUp = HangUp()
    private let requests: OpenRequests
    private let isDrainingBox = NIOLockedValueBox(false)
    private let isGivenUpBox = NIOLockedValueBox(false)
    private let isStoppedBox = NIOLockedValueBox(false)

    /// Whether the server shuts down: the running request is the connection's last.
    ///
    /// The server knows it before the connection's own event loop hears of it.
    var isDraining: Bool { requests.isDraining || isDrainingBox.withLockedValue { $0 } }

    init(requests: OpenRequests) { self.requests = requests }

    /// Whether the connection was cut because its client took its answer too slowly.
    var isGivenUp: Bool { isGivenUpBox.withLockedValue { $0 } }

    /// The client takes its answer too slowly, and the connection is cut.
    func giveUp() { isGivenUpBox.withLockedValue { $0 = true } }

    /// Whether the server cut the connection, and not because of its client.
    var isStopped: Bool { isStoppedBox.withLockedValue { $0 } }

    /// The server waits no longer for a client that is still there.
    func stop() { if !hangUp.isSignalled { isStoppedBox.withLockedValue { $0 = true } } }

    /// How the client's end shows in an error of whoever served it; nil where it is another error.
    func end(behind error: any Error) -> (any Error)? {
        let isEnd = error is ClientGone || error is ClientTooSlow || (Task.isCancelled && hangUp.isSignalled)
        guard isEnd, !isStopped else { return nil }
        return isGivenUp ? ClientTooSlow() : ClientGone()
    }

    /// The server shuts down.
    func drain() { isDrainingBox.withLockedValue { $0 = true } }
}
