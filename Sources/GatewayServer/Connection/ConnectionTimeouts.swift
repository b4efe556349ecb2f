// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import GatewayConfig
package import NIOCore

/// The time limits for a client.
package struct ConnectionTimeouts: Hashable, Sendable {
    /// The longest time from the connection to the end of its first request's head.
    package var head = TimeAmount.seconds(30)
    /// The longest time from an answer to the end of the next request's head.
    package var keepAlive = TimeAmount.seconds(75)
    /// The longest time between two pieces of a request's body, while the gateway wants to read them.
    package var body = TimeAmount.seconds(60)
    /// The least rate of a request's body, in bytes a second of waiting for it, beyond the first ``body``; zero for no
    /// limit.
    package var bodyRate = 512
    /// The longest time in which the client takes no byte of an answer that waits for it.
    package var send = TimeAmount.seconds(300)
    /// The least rate at which a client takes an answer that waits for it, in bytes a second; zero for no limit.
    package var sendRate = 0
    /// The time for which a connection waits, after its answer has been sent, for the client to close it, so that the
    /// answer is not lost if the client is still sending (RFC 9112, 9.6).
    package var linger = TimeAmount.seconds(30)
    /// The longest time of it in which the client sends nothing.
    package var lingerIdle = TimeAmount.seconds(2)
    /// The time after which a client that has closed only its own side counts as gone, if no answer is being sent to
    /// it.
    ///
    /// It may still read (`printf … | nc`), but most such clients have gone, and only writing would show it.
    package var halfClosed = TimeAmount.seconds(1)

    /// Creates the usual timeouts.
    package init() {}

    /// Creates the usual timeouts, with those of the configuration.
    package init(_ limits: Configuration.Limits) {
        keepAlive = TimeAmount(limits.keepAlive)
        body = TimeAmount(limits.bodyTimeout)
        bodyRate = limits.bodyRate
        send = TimeAmount(limits.sendTimeout)
        sendRate = limits.sendRate
        linger = TimeAmount(limits.linger)
        lingerIdle = min(lingerIdle, linger)
    }
}
