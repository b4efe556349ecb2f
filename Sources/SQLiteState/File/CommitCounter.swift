// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Tells, without a statement, whether another process has committed a transaction.
///
/// SQLite counts the transactions of a file with a write-ahead log in the header of the log's index
/// (https://www.sqlite.org/walformat.html, "The WAL-Index File Format": `iChange`). The index is a file that all
/// connections map into memory; here it is mapped once more, to be read only. A count that is greater than that of the
/// own transactions is due to another process.
final class CommitCounter: Sendable {
    /// The place of the counter in the index, in bytes.
    private static let offset = 8
    private static let mappedBytes = 4_096

    private struct State {
        /// The count after the last own transaction.
        var known: UInt32
        /// True while an own transaction, which holds the write lock, may be committed.
        var isCommitting = false
        /// The number of times that others have committed.
        var foreign: Int64 = 0

        mutating func look(_ count: UInt32) {
            guard count != known, !(isCommitting && count == known &+ 1) else { return }
            foreign += 1
            known = isCommitting ? count &- 1 : count
        }
    }

    private let address: UInt
    private let state: NIOLockedValueBox<State>
    /// Open as long as SQLite has the index open: closing any descriptor of a file drops the locks that the process
    /// holds on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
    private let descriptor: NIOLockedValueBox<CInt?>

    /// Maps the index of a database that is open; nil if it has none.
    init?(path: String) {
        let descriptor = open(path + "-shm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = NIOLockedValueBox(descriptor)
        var status = stat()
        // Reading behind the end of a mapped file ends the process.
        guard fstat(descriptor, &status) == 0, status.st_size >= Self.mappedBytes else { return nil }
        let mapped = mmap(nil, Self.mappedBytes, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        address = UInt(bitPattern: mapped)
        state = NIOLockedValueBox(State(known: Self.count(at: address)))
    }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), Self.mappedBytes) }

    /// Releases the index, after the last connection of this process was closed.
    func release() {
        guard let descriptor = descriptor.withLockedValue({ $0.take() }) else { return }
        _ = close(descriptor)
    }

    private static func count(at address: UInt) -> UInt32 {
        UnsafeRawPointer(bitPattern: address)?.load(fromByteOffset: offset, as: UInt32.self) ?? 0
    }

    /// Returns the number of times that others were seen to have committed.
    var foreignChanges: Int64 {
        state.withLockedValue { state in
            state.look(Self.count(at: address))
            return state.foreign
        }
    }

    /// Notes that an own transaction has the write lock.
    func begin() {
        state.withLockedValue { state in
            state.look(Self.count(at: address))
            state.isCommitting = true
        }
    }

    /// Notes that the own transaction has ended.
    func end(committed: Bool) {
        state.withLockedValue { state in
            state.isCommitting = false
            if committed { state.known &+= 1 }
            state.look(Self.count(at: address))
        }
    }
}
