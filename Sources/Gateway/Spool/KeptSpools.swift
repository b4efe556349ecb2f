// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DequeModule
import NIOConcurrencyHelpers
import SyncEngine
import SyncModel

/// Finished spools that wait a short time for the very same pull, whose answer may have been lost.
///
/// Never for a first pull: two devices that begin at the same moment would get one identity (finding 8).
final class KeptSpools: Sendable {
    /// What makes two pulls the same.
    struct Key: Hashable {
        let principal: Principal
        let session: Session
        let cursor: Cursor
        let schemaVersion: Int
    }

    /// A finished pull.
    struct Entry: Sendable {
        let kept: PullQuery.Kept
        let spool: FinishedSpool
        let expiresAt: Int64
    }

    /// How many are kept at the most, and what each costs besides its bytes: indices, and maybe a file.
    private static let maximumEntries = 10_000
    private static let overhead: UInt64 = 4_096

    private struct State {
        var entries: [Key: Entry] = [:]
        /// In the order of their ends; keys whose entry was replaced meanwhile are passed over.
        var order: Deque<(key: Key, expiresAt: Int64)> = []
        var bytes: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())
    private let maximumBytes: Int
    private let window: Int64

    /// Keeps at most so many bytes, each spool for `window` milliseconds; 0 keeps none.
    init(maximumBytes: Int, window: Int64) {
        self.maximumBytes = maximumBytes
        self.window = window
    }

    /// Keeps a spool, and drops the oldest ones if there would be too many bytes.
    func keep(_ spool: FinishedSpool, _ kept: PullQuery.Kept, for key: Key, at now: Int64) {
        let cost = Self.cost(spool)
        guard window > 0, cost <= UInt64(maximumBytes) else { return }
        state.withLockedValue { state in
            if let replaced = state.entries.removeValue(forKey: key) { state.bytes -= Self.cost(replaced.spool) }
            while state.bytes + cost > UInt64(maximumBytes) || state.entries.count >= Self.maximumEntries {
                guard Self.dropFirst(of: &state) else { break }
            }
            state.entries[key] = Entry(kept: kept, spool: spool, expiresAt: now + window)
            state.order.append((key, now + window))
            state.bytes += cost
        }
    }

    /// The spool of the very same pull, if it is young enough.
    func entry(for key: Key, at now: Int64) -> Entry? {
        state.withLockedValue { state in
            guard let entry = state.entries[key], entry.expiresAt > now else { return nil }
            return entry
        }
    }

    /// Drops what has expired.
    func purge(at now: Int64) {
        state.withLockedValue { state in
            while let first = state.order.first, first.expiresAt <= now, Self.dropFirst(of: &state) {}
        }
    }

    private static func cost(_ spool: FinishedSpool) -> UInt64 { spool.byteCount + overhead }

    /// Drops the oldest; false where there is none.
    private static func dropFirst(of state: inout State) -> Bool {
        guard let first = state.order.popFirst() else { return false }
        if let entry = state.entries[first.key], entry.expiresAt == first.expiresAt {
            state.entries[first.key] = nil
            state.bytes -= cost(entry.spool)
        }
        return true
    }
}
