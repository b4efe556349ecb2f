// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import NIOConcurrencyHelpers

/// The multi handle of libcurl.
// @unchecked: only the reactor's thread uses it, except for curl_multi_wakeup, which libcurl allows from every thread
// and which the mailbox calls under its lock and never after it was closed.
struct MultiHandle: @unchecked Sendable {
    let raw: UnsafeMutableRawPointer
}

/// Collects the commands of other threads to the reactor, in their order.
final class Mailbox: Sendable {
    /// A command; transfers are named by number, since the objects belong to the reactor's thread.
    enum Command: Sendable {
        case start(PreparedRequest, Exchange)
        /// The reader wants more bytes.
        case resume(UInt64)
        /// The reader has ended.
        case cancel(UInt64)
        /// There are bytes to send.
        case resumeUpload(UInt64)
        case failUpload(UInt64, any Error)
        case stop
    }

    private struct State {
        var commands: [Command] = []
        var isClosed = false
        var lastTransfer: UInt64 = 0
    }

    private let multi: MultiHandle
    private let state = NIOLockedValueBox(State())

    init(multi: MultiHandle) { self.multi = multi }

    /// Returns a number that no other transfer has.
    func makeTransferID() -> UInt64 {
        state.withLockedValue { state in
            state.lastTransfer += 1
            return state.lastTransfer
        }
    }

    /// Adds a command; returns false if the reactor takes no more.
    @discardableResult
    func post(_ command: Command) -> Bool {
        state.withLockedValue { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            // The reactor empties the mailbox whenever it wakes, so only the first command has to wake it.
            if state.commands.count == 1 { curl_multi_wakeup(multi.raw) }
            return true
        }
    }

    /// Takes all commands since the last call.
    func drain() -> [Command] {
        state.withLockedValue { state in
            defer { state.commands.removeAll() }
            return state.commands
        }
    }

    /// Refuses commands from now on; returns those that were still inside.
    func close() -> [Command] {
        state.withLockedValue { state in
            state.isClosed = true
            defer { state.commands.removeAll() }
            return state.commands
        }
    }
}
