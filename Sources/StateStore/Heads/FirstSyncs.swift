// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Counts the first syncs of a principal that no device has come back from, of late.
///
/// Devices without a cursor are told apart by their sessions, as far as those last: what one of them has got ends
/// nothing for another. Those that come within a minute of the session's last one that was counted do not count, and
/// neither do those of new sessions within a minute of another one's: an app that tries every second is not stuck after a
/// few seconds, nor are devices that start together.
package struct FirstSyncs: Hashable, Sendable, Coded {
    /// First syncs in a row.
    package struct Row: Hashable, Sendable, Coded {
        /// The number of them.
        package var times = 0
        /// The time of the first one.
        package var since: Instant = 0
        fileprivate var lastAt: Instant = 0
        /// True if the one that was just made was counted.
        package fileprivate(set) var isNews = false

        package init() {}

        package mutating func code(with coder: inout Coder) throws(StateError) {
            try coder.code(&times, &since, &lastAt)
        }
    }

    private static let maximumSessions = 32
    /// The time after which a further first sync is another matter.
    private static let window: Int64 = 86_400_000
    /// The time within which first syncs count once.
    private static let interval: Int64 = 60_000

    private var bySession: [String: Row] = [:]

    package init() {}

    /// Counts one more if it does not come too soon, and returns how many there were in a row.
    ///
    /// If a session has made only one, those of all such sessions are returned, since a device whose credential rotates
    /// has another session each time.
    mutating func count(_ session: Session, at now: Instant) -> Row {
        bySession = bySession.filter { now.milliseconds(since: $0.value.lastAt) < Self.window }
        var own = bySession[session.rawValue] ?? Row()
        // Devices that start together count once: each has a session of its own.
        let last = own.times > 0 ? own.lastAt : bySession.values.lazy.filter { $0.times == 1 }.map(\.lastAt).max()
        let passed = last.map { now.milliseconds(since: $0) } ?? Self.interval
        // A clock that was set back must not stop the counting.
        var isNews = passed < 0 || passed >= Self.interval
        isNews = isNews && (own.times > 0 || bySession.count < Self.maximumSessions)
        if isNews {
            if own.times == 0 { own.since = now }
            (own.times, own.lastAt) = (own.times + 1, now)
            bySession[session.rawValue] = own
        }
        if own.times <= 1 {
            let single = bySession.values.filter { $0.times == 1 }
            (own.times, own.since) = (single.count, single.map(\.since).min() ?? now)
        }
        own.isNews = isNews
        return own
    }

    /// Begins anew: a device of the session has come back.
    mutating func end(_ session: Session) { bySession[session.rawValue] = nil }

    /// Codes all rows.
    package mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(hex: &bySession) }
}
