// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

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

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Oldest first.
        var order: [Key] = []
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
        guard window > 0, spool.spool.length <= UInt64(maximumBytes) else { return }
        state.withLockedValue { state in
            Self.remove(key, from: &state)
            while let oldest = state.order.first {
                let isExpired = state.entries[oldest].map { $0.expiresAt <= now } ?? true
                guard isExpired || state.bytes + spool.spool.length > UInt64(maximumBytes) else { break }
                Self.remove(oldest, from: &state)
            }
            state.entries[key] = Entry(kept: kept, spool: spool, expiresAt: now + window)
            state.order.append(key)
            state.bytes += spool.spool.length
        }
    }

    /// The spool of the very same pull, if it is young enough.
    func entry(for key: Key, at now: Int64) -> Entry? {
        state.withLockedValue { state in
            guard let entry = state.entries[key] else { return nil }
            guard entry.expiresAt > now else {
                Self.remove(key, from: &state)
                return nil
            }
            return entry
        }
    }

    /// Drops what has expired.
    func purge(at now: Int64) {
        state.withLockedValue { state in
            for key in state.order where state.entries[key].map({ $0.expiresAt <= now }) ?? true {
                Self.remove(key, from: &state)
            }
        }
    }

    private static func remove(_ key: Key, from state: inout State) {
        guard let entry = state.entries.removeValue(forKey: key) else { return }
        state.order.removeAll { $0 == key }
        state.bytes -= entry.spool.spool.length
    }
}
