// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DequeModule
import NIOConcurrencyHelpers
import SyncMachines
import SyncModel

/// Keeps for a short time what pulls have streamed, since their answers may get lost.
///
/// The client's next pull goes on from its end. Nothing of it is shown to anybody before the backend has streamed to
/// the same credential again.
final class CachedAnswers: Sendable {
    /// Tells whose pull would stream the same.
    struct Key: Hashable {
        let principal: Principal
        let session: Session
        /// A digest of all that the request carries to show who is calling.
        let credential: String
        /// Nil for first pulls.
        let cursor: Cursor?
        let schemaVersion: Int
    }

    /// What one pull has streamed.
    struct Entry: Sendable {
        let key: Key
        let stream: CachedAnswer
        /// The lines, and how much of its files is about them.
        let spooler: StreamSpooler
        let length: SpoolLength
        /// The memory of what is in no spool.
        let room: SpoolLease
        /// When it goes, in milliseconds since 1970; set once it is kept.
        var expiresAt: Int64 = 0

        /// How many bytes it costs to keep.
        var byteCount: UInt64 { UInt64(spooler.byteCount) + spooler.length.lines + length.runs + 4_096 }
    }

    private static let maximumEntries = 10_000

    private struct State {
        var entries: [Key: Entry] = [:]
        /// In the order of their ends; keys whose entry was taken or replaced meanwhile are passed over.
        var order: Deque<(key: Key, expiresAt: Int64)> = []
        var bytes: UInt64 = 0

        /// Removes the entry of a key and says what it was.
        mutating func remove(_ key: Key) -> Entry? {
            guard let entry = entries.removeValue(forKey: key) else { return nil }
            bytes -= entry.byteCount
            return entry
        }

        /// Drops the oldest; false if there is none.
        mutating func dropFirst() -> Bool {
            guard let first = order.popFirst() else { return false }
            if entries[first.key]?.expiresAt == first.expiresAt { _ = remove(first.key) }
            return true
        }
    }

    private let state = NIOLockedValueBox(State())
    private let maximumBytes: Int
    private let window: Int64

    /// Keeps at most so many bytes, each stream for `window` milliseconds; 0 keeps none.
    init(maximumBytes: Int, window: Int64) {
        self.maximumBytes = maximumBytes
        self.window = window
    }

    /// Keeps a stream, and drops the oldest ones if there would be too many bytes.
    func keep(_ entry: Entry, at now: Int64) {
        var entry = entry
        entry.expiresAt = now + window
        insert(entry)
    }

    /// Keeps a stream again that was taken, for as long as it would have been kept.
    func putBack(_ entry: Entry, at now: Int64) {
        if entry.expiresAt > now { insert(entry) }
    }

    private func insert(_ entry: Entry) {
        let cost = entry.byteCount
        guard window > 0, cost <= UInt64(maximumBytes) else { return }
        state.withLockedValue { state in
            _ = state.remove(entry.key)
            while state.bytes + cost > UInt64(maximumBytes) || state.entries.count >= Self.maximumEntries {
                guard state.dropFirst() else { break }
            }
            state.entries[entry.key] = entry
            // One that comes back stands behind younger ones: it may go a little late, and never lasts.
            state.order.append((entry.key, entry.expiresAt))
            state.bytes += cost
        }
    }

    /// Hands the stream over that a pull can go on from, if it is young enough.
    ///
    /// It is the pull's alone then: two that went on from one end would write into the same spool.
    func take(_ key: Key, at now: Int64) -> Entry? {
        state.withLockedValue { state in
            guard let expiresAt = state.entries[key]?.expiresAt, expiresAt > now else { return nil }
            return state.remove(key)
        }
    }

    /// Drops what has expired, and what would live longer than it should since the clock was put back.
    func purge(at now: Int64) {
        state.withLockedValue { state in
            while let end = state.order.first?.expiresAt, end <= now || end > now + window {
                guard state.dropFirst() else { return }
            }
        }
    }

    /// Drops the oldest of a principal, or of all, if its room is needed; false if there is none.
    func dropOldest(of principal: Principal?) -> Bool {
        let dropped: Entry? = state.withLockedValue { state in
            let oldest = state.entries.filter { principal == nil || $0.key.principal == principal }
                .min { $0.value.expiresAt < $1.value.expiresAt }
            return oldest.flatMap { state.remove($0.key) }
        }
        return dropped != nil
    }
}
