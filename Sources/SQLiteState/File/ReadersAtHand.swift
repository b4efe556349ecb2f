// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import NIOConcurrencyHelpers

/// Holds connections on which small reads run in the caller's thread, without a change to a queue's thread and back.
///
/// A read that has to wait for the disk blocks its thread. So there are half as many connections as the concurrency
/// runtime has threads, and one if it has a single thread: then such a read holds up everything. No caller waits for a
/// connection or for a lock, but reads on GRDB's queues instead.
final class ReadersAtHand: Sendable {
    /// The number of times that a read is tried, each time behind the other work that is ready: a read that is not
    /// waiting for the disk is over by then.
    private static let attempts = 50

    private struct State {
        var free: [DatabaseQueue] = []
        var isClosed = false
    }

    private let state: NIOLockedValueBox<State>

    /// Opens connections to a file that exists and has its schema.
    init(path: String, configuration: Configuration) throws {
        let count = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        var configuration = configuration
        configuration.readonly = true
        configuration.busyMode = .immediateError
        let free = try (0..<count).map { _ in try DatabaseQueue(path: path, configuration: configuration) }
        state = NIOLockedValueBox(State(free: free))
    }

    /// Runs one consistent read; nil if no connection is free after a moment, or the file is locked.
    func read<T>(_ body: (Database) throws -> T) async throws -> T? {
        for _ in 0..<Self.attempts {
            if let result = try readNow(body) { return result }
            await Task.yield()
        }
        return nil
    }

    private func readNow<T>(_ body: (Database) throws -> T) throws -> T? {
        guard let connection = state.withLockedValue({ $0.free.popLast() }) else { return nil }
        defer { giveBack(connection) }
        do {
            return try connection.inDatabase { db in
                // As GRDB's own transactions, but from statements that are prepared once: preparing them takes as long
                // as the reads.
                try db.step("BEGIN DEFERRED TRANSACTION")
                defer { if db.isInsideTransaction { try? db.rollback() } }
                let result = try body(db)
                try db.step("COMMIT TRANSACTION")
                return result
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return nil
        }
    }

    /// Closes the connections; one that is in use is closed as soon as it is given back.
    func close() {
        let free = state.withLockedValue { state in
            state.isClosed = true
            defer { state.free = [] }
            return state.free
        }
        for connection in free { try? connection.close() }
    }

    private func giveBack(_ connection: DatabaseQueue) {
        let isClosed = state.withLockedValue { state in
            if !state.isClosed { state.free.append(connection) }
            return state.isClosed
        }
        if isClosed { try? connection.close() }
    }
}
