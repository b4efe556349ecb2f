// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Counts the first syncs of each principal that no device has come back from, of late and in bounded memory.
///
/// Devices without a cursor are told apart by their sessions, as far as those last: what one of them has got ends nothing
/// for another. Those that come within a minute of the session's last one that was counted do not count: an app that
/// tries every second is not stuck after a few seconds.
final class FirstSyncs: Sendable {
    /// First syncs in a row.
    struct Row: Hashable, Sendable {
        var times: Int
        var since: Instant
        fileprivate var lastAt: Instant
    }

    /// The first syncs of a principal by session.
    private struct Rows {
        var bySession: [Session: Row] = [:]
        var isLogged = false

        var lastAt: Instant { bySession.values.map(\.lastAt).max() ?? 0 }

        /// Returns the first syncs of a session; if it has made only one, those of all such sessions, since a device whose
        /// credential rotates has another session each time.
        func row(of session: Session) -> Row {
            if let own = bySession[session], own.times > 1 { return own }
            let single = bySession.values.filter { $0.times == 1 }
            return Row(times: single.count, since: single.map(\.since).min() ?? 0, lastAt: lastAt)
        }
    }

    /// The most principals that are remembered, and the most sessions of one.
    private static let maximum = 10_000
    private static let maximumSessions = 32
    /// The time after which a further first sync is another matter.
    private static let window: Int64 = 86_400_000
    /// The time within which first syncs count once.
    private static let interval: Int64 = 60_000

    private let rows = NIOLockedValueBox<[Principal: Rows]>([:])

    /// Counts one more if it does not come too soon, and returns how many there were in a row.
    func count(_ principal: Principal, _ session: Session, at now: Instant) -> Row {
        rows.withLockedValue { rows in
            if rows.count >= Self.maximum, rows[principal] == nil {
                rows = rows.filter { now.milliseconds(since: $0.value.lastAt) < Self.window }
                if rows.count > Self.maximum / 5 * 4 { rows.removeAll() }
            }
            var own = rows[principal] ?? Rows()
            own.bySession = own.bySession.filter { now.milliseconds(since: $0.value.lastAt) < Self.window }
            if own.bySession.isEmpty { own.isLogged = false }
            let last = own.bySession[session]
            let passed = last.map { now.milliseconds(since: $0.lastAt) } ?? Self.interval
            // A clock that was set back must not stop the counting.
            if passed < 0 || passed >= Self.interval, last != nil || own.bySession.count < Self.maximumSessions {
                own.bySession[session] = Row(times: (last?.times ?? 0) + 1, since: last?.since ?? now, lastAt: now)
            }
            rows[principal] = own
            return own.row(of: session)
        }
    }

    /// Returns true the first time that a row is logged.
    func beginLogging(_ principal: Principal) -> Bool {
        rows.withLockedValue { rows in
            guard let own = rows[principal], !own.isLogged else { return false }
            rows[principal]?.isLogged = true
            return true
        }
    }

    /// Begins anew: a device of the session has come back.
    func forget(_ principal: Principal, _ session: Session) {
        rows.withLockedValue { rows in
            rows[principal]?.bySession[session] = nil
            if rows[principal]?.bySession.isEmpty == true { rows[principal] = nil }
        }
    }
}
