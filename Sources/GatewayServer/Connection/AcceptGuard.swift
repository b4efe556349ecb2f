// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore

/// Lets a listener pause when the system cannot give it a connection, usually because all descriptors are used.
///
/// NIO's own handler puts off the next read, but the waiting connection keeps waking the loop, which takes a whole
/// core. The listener is therefore not polled at all for a while.
final class AcceptGuard: ChannelInboundHandler {
    typealias InboundIn = Channel

    /// The least time between two lines of the log about this.
    private static let interval = TimeAmount.seconds(10)

    private let pause: TimeAmount
    private let logger: Logger
    private var failures = 0
    private var loggedAt: NIODeadline?

    init(pause: TimeAmount = .milliseconds(500), logger: Logger) {
        self.pause = pause
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError {
            log(error)
            try? context.channel.syncOptions?.setOption(.autoRead, value: false)
            context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
                guard context.channel.isActive else { return }
                try? context.channel.syncOptions?.setOption(.autoRead, value: true)
            }
        }
        context.fireErrorCaught(error)
    }

    private func log(_ error: IOError) {
        failures += 1
        let now = NIODeadline.now()
        if let loggedAt, now - loggedAt < Self.interval { return }
        loggedAt = now
        logger.error(
            "no connection can be accepted",
            metadata: ["code": "server.accept", "cause": "\(error)", "tries": "\(failures)"])
        failures = 0
    }
}
