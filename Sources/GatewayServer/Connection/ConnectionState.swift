// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// The state shared by the handler of a connection, on its event loop, and the task that serves it.
final class ConnectionState: Sendable {
    /// The signal that the client has gone.
    let hangUp = HangUp()
    /// True if the connection itself has TLS.
    let isTLS: Bool
    private let requests: OpenRequests
    private let isDrainingBox = NIOLockedValueBox(false)
    private let isGivenUpBox = NIOLockedValueBox(false)
    private let isStoppedBox = NIOLockedValueBox(false)
    private let peerBox: NIOLockedValueBox<Peer>

    /// True if the server shuts down: the running request is the connection's last.
    ///
    /// The server knows this before the connection's own event loop does.
    var isDraining: Bool { requests.isDraining || isDrainingBox.withLockedValue { $0 } }

    init(requests: OpenRequests, peer: Peer, isTLS: Bool = false) {
        self.isTLS = isTLS
        self.requests = requests
        peerBox = NIOLockedValueBox(peer)
    }

    /// The other end; before the first request a proxy may say whom it speaks for.
    var peer: Peer {
        get { peerBox.withLockedValue { $0 } }
        set { peerBox.withLockedValue { $0 = newValue } }
    }

    /// True if the connection was cut because its client took its answer too slowly.
    var isGivenUp: Bool { isGivenUpBox.withLockedValue { $0 } }

    /// Records that the connection is cut because the client takes its answer too slowly.
    func giveUp() { isGivenUpBox.withLockedValue { $0 = true } }

    /// True if the server cut the connection, and not because of its client.
    var isStopped: Bool { isStoppedBox.withLockedValue { $0 } }

    /// Records that the server no longer waits for a client that is still there.
    func stop() { if !hangUp.isSignalled { isStoppedBox.withLockedValue { $0 = true } } }

    /// Returns the client's end behind an error of the code that served it; nil for other errors.
    func end(behind error: any Error) -> (any Error)? {
        let isEnd = error is ClientGone || error is ClientTooSlow || (Task.isCancelled && hangUp.isSignalled)
        guard isEnd, !isStopped else { return nil }
        return isGivenUp ? ClientTooSlow() : ClientGone()
    }

    /// Records that the server shuts down.
    func drain() { isDrainingBox.withLockedValue { $0 = true } }
}
