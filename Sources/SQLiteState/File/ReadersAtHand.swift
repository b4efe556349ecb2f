// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import NIOConcurrencyHelpers

/// Holds connections on which small reads run in the caller's thread, without a change to a queue's thread and back.
///
/// A read that is asked of the disk blocks its thread. So there are fewer connections than threads of the cooperative
/// pool, nobody waits for one, and none waits for a lock: the caller goes another way then.
final class ReadersAtHand: Sendable {
    /// The reason why a read has to go another way.
    struct Unavailable: Error {}

    /// The number of times that a read is tried, each time behind the other work that is ready: a read that is not
    /// waiting for the disk is over by then.
    static let attempts = 3

    private struct State {
        var free: [DatabaseQueue] = []
        var isClosed = false
    }

    private let state: NIOLockedValueBox<State>

    /// Opens connections to a file that exists and has its schema.
    init(path: String, configuration: Configuration, count: Int) throws {
        var configuration = configuration
        configuration.readonly = true
        configuration.busyMode = .immediateError
        let free = try (0..<count).map { _ in try DatabaseQueue(path: path, configuration: configuration) }
        state = NIOLockedValueBox(State(free: free))
    }

    /// The number of connections for a machine: half of its cooperative threads, and at least one.
    static var defaultCount: Int { max(1, ProcessInfo.processInfo.activeProcessorCount / 2) }

    /// Runs one consistent read now.
    ///
    /// - Throws: ``Unavailable`` if no connection is free or the file is locked; all other errors are those of the read.
    func read<T>(_ body: (Database) throws -> T) throws -> T {
        guard let connection = state.withLockedValue({ $0.free.popLast() }) else { throw Unavailable() }
        defer { giveBack(connection) }
        do {
            return try connection.inDatabase { db in
                var result: T?
                try db.inTransaction(.deferred) {
                    result = try body(db)
                    return .commit
                }
                guard let result else { throw Unavailable() }
                return result
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw Unavailable()
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
