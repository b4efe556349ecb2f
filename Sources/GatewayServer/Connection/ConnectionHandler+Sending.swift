// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// Tells the handler of a connection that all of an answer was written; the event succeeds when the client has it.
///
/// It fails if the connection ends first.
struct AnswerEnd: Sendable {
    /// True if the answer is so long that the bytes on their way must have been acknowledged, too.
    ///
    /// A short answer counts as taken as soon as it is on its way, so that no client has to acknowledge it separately
    /// before its next request is served.
    var isLong: Bool
}

/// Asks the handler of a connection for room; the event succeeds when the connection takes more.
///
/// It fails with ``NoRoomYet`` after the patience, and with another error if the connection ends first.
struct AnswerRoom: Sendable {
    /// The longest wait; nil is none.
    var patience: TimeAmount?
}

/// An error of a wait that was long enough.
struct NoRoomYet: Error {}

/// Tells the handler of a connection to stop waiting for the client to take its answer.
struct AnswerAbandoned: Sendable {}

// Tracks answers that wait for the client to take them.
extension ConnectionHandler {
    /// An answer that waits for the client.
    struct Sending {
        /// The pace of the client; nil until the first check of the connection.
        var pace: SendPace?
        /// True if the answer has more bytes than the connection takes.
        var isBlocked = false
        /// The end of an answer, and the promise for it.
        var end: (AnswerEnd, EventLoopPromise<Void>?)?
        /// The time until the next check; it grows, since most answers are taken at once.
        var pause = TimeAmount.milliseconds(1)
    }

    /// The longest time between two checks of a connection.
    private static let longestPause = TimeAmount.milliseconds(500)

    func clientBlocks(_ isBlocked: Bool, _ context: ChannelHandlerContext) {
        guard isBlocked || sending != nil else { return }
        sending = sending ?? Sending()
        sending?.isBlocked = isBlocked
        look(context)
    }

    func answerEnds(_ end: AnswerEnd, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        guard context.channel.isActive else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        sending = sending ?? Sending()
        sending?.end = (end, promise)
        sending?.pause = .milliseconds(1)
        look(context)
    }

    func answerNeedsRoom(_ wanted: AnswerRoom, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        guard context.channel.isActive else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if context.channel.isWritable {
            promise?.succeed()
        } else if let patience = wanted.patience, patience <= .zero {
            promise?.fail(NoRoomYet())
        } else {
            room = promise
            guard let patience = wanted.patience else { return }
            start(.room, on: context, in: patience) { _ in self.room.take()?.fail(NoRoomYet()) }
        }
    }

    /// Ends the wait for room.
    func giveRoom() {
        stop(.room)
        room.take()?.succeed()
    }

    func failSending() {
        let end = sending?.end
        sending = nil
        end?.1?.fail(ChannelError.ioOnClosedChannel)
        room.take()?.fail(ChannelError.ioOnClosedChannel)
    }

    /// Checks the progress of the connection, now and as long as an answer waits.
    private func look(_ context: ChannelHandlerContext) {
        stop(.sending)
        SendProgress.look(at: context.channel, written: written).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let progress): self.judge(progress, context)
            case .failure: context.close(promise: nil)
            }
        }
    }

    private func judge(_ progress: SendProgress, _ context: ChannelHandlerContext) {
        guard var sending else { return }
        if let (end, promise) = sending.end, progress.unsent == 0, !(end.isLong && progress.isUnderWay) {
            isAnswering = false
            sending.end = nil
            promise?.succeed()
            waitForRequest(context)
        }
        guard sending.isBlocked || sending.end != nil else {
            self.sending = nil
            return
        }
        let now = NIODeadline.now()
        var pace =
            sending.pace
            ?? SendPace(patience: timeouts.send, rate: timeouts.sendRate, taken: progress.taken, at: now)
        let isTooSlow = pace.isTooSlow(taken: progress.taken, at: now)
        sending.pace = pace
        let pause = sending.pause
        let quarter = TimeAmount.nanoseconds(max(1_000_000, timeouts.send.nanoseconds / 4))
        sending.pause = min(pause + pause, Self.longestPause, quarter)
        self.sending = sending
        if isTooSlow {
            state.giveUp()
            cut(context)
        } else {
            start(.sending, on: context, in: pause) { self.look($0) }
        }
    }

    /// Ends the connection in a way that no client takes for the end of an answer.
    func cut(_ context: ChannelHandlerContext) {
        if let options = context.channel as? any SocketOptionProvider {
            options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in }
        }
        context.pipeline.syncOperations.closeBelowTLS()
    }
}
