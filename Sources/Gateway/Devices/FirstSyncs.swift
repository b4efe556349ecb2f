// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Counts the first syncs of each principal that no device has come back from, of late and in bounded memory.
///
/// Those that come within a minute of the last one that was counted do not count: an app that tries every second is not
/// stuck after a few seconds.
final class FirstSyncs: Sendable {
    /// First syncs in a row.
    struct Row: Hashable, Sendable {
        var times: Int
        var since: Instant
        fileprivate var lastAt: Instant
        fileprivate var isLogged = false

        fileprivate init(at now: Instant) { (times, since, lastAt) = (1, now, now) }
    }

    /// The most principals that are remembered.
    private static let maximum = 10_000
    /// The time after which a further first sync is another matter.
    private static let window: Int64 = 86_400_000
    /// The time within which first syncs count once.
    private static let interval: Int64 = 60_000

    private let rows = NIOLockedValueBox<[Principal: Row]>([:])

    /// Counts one more if it does not come too soon, and returns how many there were in a row.
    func count(_ principal: Principal, at now: Instant) -> Row {
        rows.withLockedValue { rows in
            if rows.count >= Self.maximum, rows[principal] == nil {
                rows = rows.filter { now.milliseconds(since: $0.value.lastAt) < Self.window }
                if rows.count > Self.maximum / 5 * 4 { rows.removeAll() }
            }
            guard var row = rows[principal], now.milliseconds(since: row.lastAt) < Self.window else {
                let row = Row(at: now)
                rows[principal] = row
                return row
            }
            let passed = now.milliseconds(since: row.lastAt)
            // A clock that was set back must not stop the counting.
            guard passed < 0 || passed >= Self.interval else { return row }
            row.times += 1
            row.lastAt = now
            rows[principal] = row
            return row
        }
    }

    /// Returns true the first time that a row is logged.
    func beginLogging(_ principal: Principal) -> Bool {
        rows.withLockedValue { rows in
            guard let row = rows[principal], !row.isLogged else { return false }
            rows[principal]?.isLogged = true
            return true
        }
    }

    /// Begins anew: a device has come back.
    func forget(_ principal: Principal) { _ = rows.withLockedValue { $0.removeValue(forKey: principal) } }
}
