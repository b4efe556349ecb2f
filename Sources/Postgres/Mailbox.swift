// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Collects the commands of other threads to the pool's thread, in their order, and wakes it.
final class Mailbox: Sendable {
    /// A command; connections are named by number, since the objects belong to the pool's thread.
    enum Command: Sendable {
        case run(Job)
        /// The caller of a job has gone.
        case cancel(job: UInt64)
        /// The transaction on a connection is given up.
        case rollBack(connection: UInt64)
        case opened(Result<ConnectionHandle, PostgresError>)
        /// A connection that was to be closed is closed.
        case closed(connection: UInt64)
        case stop
    }

    private struct State {
        var commands: [Command] = []
        var isClosed = false
        var lastJob: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())
    /// The ends of a pipe: a byte in it wakes the thread.
    private let readEnd: CInt
    private let writeEnd: CInt

    /// Creates a mailbox; returns nil if the process has no descriptors left.
    init?() {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// The descriptor that is readable while there are commands.
    var descriptor: CInt { readEnd }

    /// Returns a number that no other job has.
    func makeJobID() -> UInt64 {
        state.withLockedValue { state in
            state.lastJob += 1
            return state.lastJob
        }
    }

    /// Adds a command; returns false if the thread takes no more.
    @discardableResult
    func post(_ command: Command) -> Bool {
        let (isOpen, wakes) = state.withLockedValue { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            // The thread empties the mailbox whenever it wakes, so only the first command has to wake it.
            return (true, state.commands.count == 1)
        }
        if wakes {
            var byte: UInt8 = 0
            // A full pipe wakes the thread too.
            _ = write(writeEnd, &byte, 1)
        }
        return isOpen
    }

    /// Takes all commands since the last call.
    func drain() -> [Command] {
        var bytes = [UInt8](repeating: 0, count: 64)
        // Emptied first: a command that comes in between is either taken here or wakes the thread again.
        while read(readEnd, &bytes, bytes.count) == bytes.count {}
        return state.withLockedValue { state in
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

    private func close(_ descriptor: CInt) {
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #else
        _ = Musl.close(descriptor)
        #endif
    }
}
