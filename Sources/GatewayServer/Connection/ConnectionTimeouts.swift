// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import GatewayConfig
package import NIOCore

/// How long a client may take for what.
package struct ConnectionTimeouts: Hashable, Sendable {
    /// From the connection to the end of its first request's head.
    package var head = TimeAmount.seconds(30)
    /// From an answer to the end of the next request's head.
    package var keepAlive = TimeAmount.seconds(75)
    /// Between two pieces of a request's body, while they are wanted.
    package var body = TimeAmount.seconds(60)
    /// The least rate of a request's body, in bytes a second of waiting for it, beyond the first ``body``; zero is
    /// none.
    package var bodyRate = 512
    /// Without taking anything of an answer that waits for it.
    package var send = TimeAmount.seconds(300)
    /// The least rate at which an answer is taken that waits for its client, in bytes a second; zero is none.
    package var sendRate = 0
    /// How long a connection whose answer has been sent waits for the client to close it, so that the answer is not
    /// lost where the client is still sending (RFC 9112, 9.6).
    package var linger = TimeAmount.seconds(2)
    /// After how long a client that has closed only its own side counts as gone, while nothing is sent to it.
    ///
    /// It may still read (`printf … | nc`), but most that do it have gone, and only writing would tell.
    package var halfClosed = TimeAmount.seconds(1)

    /// The usual timeouts.
    package init() {}

    /// The usual timeouts, with those that the configuration has.
    package init(_ limits: Configuration.Limits) {
        body = TimeAmount(limits.bodyTimeout)
        bodyRate = limits.bodyRate
        send = TimeAmount(limits.sendTimeout)
        sendRate = limits.sendRate
    }
}
