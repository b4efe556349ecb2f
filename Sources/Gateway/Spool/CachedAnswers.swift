// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DequeModule
import NIOConcurrencyHelpers
import SyncMachines
import SyncModel

/// Caches the lines of pulls for a short time, since their answers may get lost.
///
/// The client's next pull goes on from their end. None of them is sent before the backend has streamed to the same
/// credential again.
final class CachedAnswers: Sendable {
    /// Identifies pulls that would stream the same lines.
    struct Key: Hashable {
        let principal: Principal
        let session: Session
        /// A digest of everything in the request that identifies the caller.
        let credential: String
        /// The presented cursor; nil for first pulls.
        let cursor: Cursor?
        let schemaVersion: Int
        /// The number of the configuration, which decides what the lines become.
        let configuration: Int
    }

    /// The lines of one pull.
    struct Entry: Sendable {
        let key: Key
        let stream: CachedAnswer
        /// The lines, in memory and in the spool's files, and how far these were written when the pull ended.
        var spooler: StreamSpooler
        let length: SpoolLength
        /// The memory of what is not in a spool.
        let room: SpoolLease
        /// The time of expiry; set when the entry is kept.
        var expiresAt: Instant = 0

        /// The bytes that it costs to keep.
        var byteCount: UInt64 { UInt64(spooler.byteCount) + spooler.length.lines + length.runs + 4_096 }
    }

    private static let maximumEntries = 10_000

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The keys in order of expiry; those whose entry was taken or replaced meanwhile are skipped.
        var order: Deque<(key: Key, expiresAt: Instant)> = []
        var bytes: UInt64 = 0

        /// Removes and returns the entry of a key.
        mutating func remove(_ key: Key) -> Entry? {
            guard let entry = entries.removeValue(forKey: key) else { return nil }
            bytes -= entry.byteCount
            return entry
        }

        /// Drops the oldest entry; returns false if there is none.
        mutating func dropFirst() -> Bool {
            guard let first = order.popFirst() else { return false }
            if entries[first.key]?.expiresAt == first.expiresAt { _ = remove(first.key) }
            return true
        }
    }

    private let state = NIOLockedValueBox(State())
    private let maximumBytes: Int
    private let window: Int64

    /// Creates a cache of at most this many bytes, which keeps each answer for `window` milliseconds; 0 keeps none.
    init(maximumBytes: Int, window: Int64) {
        self.maximumBytes = maximumBytes
        self.window = window
    }

    /// Adds an answer, and drops the oldest ones if there would be too many bytes.
    func keep(_ entry: Entry, at now: Instant) {
        var entry = entry
        entry.expiresAt = now + window
        entry.spooler.compact()
        entry.room.keep(memory: entry.spooler.byteCount, disk: 0)
        insert(entry)
    }

    /// Puts back an answer that was taken, for the rest of its time.
    func putBack(_ entry: Entry, at now: Instant) {
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
            // An entry that was put back comes after younger ones: it may stay a little too long, but expires.
            state.order.append((entry.key, entry.expiresAt))
            state.bytes += cost
        }
    }

    /// Removes and returns the answer that a pull can go on from, if it has not expired.
    ///
    /// It then belongs to the pull: two pulls that went on from the same end would write into the same spool.
    func take(_ key: Key, at now: Instant) -> Entry? {
        state.withLockedValue { state in
            guard let expiresAt = state.entries[key]?.expiresAt, expiresAt > now else { return nil }
            return state.remove(key)
        }
    }

    /// Drops expired answers, and those that would live too long because the clock was set back.
    func purge(at now: Instant) {
        state.withLockedValue { state in
            while let end = state.order.first?.expiresAt, end <= now || end > now + window {
                guard state.dropFirst() else { return }
            }
        }
    }

    /// Drops the oldest answer of a principal, or of all, to make room; returns false if there is none.
    func dropOldest(of principal: Principal?) -> Bool {
        let dropped: Entry? = state.withLockedValue { state in
            let oldest = state.entries.filter { principal == nil || $0.key.principal == principal }
                .min { $0.value.expiresAt < $1.value.expiresAt }
            return oldest.flatMap { state.remove($0.key) }
        }
        return dropped != nil
    }
}
