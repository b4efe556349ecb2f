// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Records that a device tries and does not get on.
package struct DeviceTrouble: Hashable, Sendable {
    /// The ways in which a device does not get on.
    package enum Kind: String, CaseIterable, Sendable {
        /// It comes again with a cursor for which it has got an answer.
        case sameCursor = "same_cursor"
        /// It comes again without a cursor.
        case firstSync = "first_sync"
        /// Its pulls fail.
        case pull = "pull_fails"
        /// Its pushes fail.
        case push = "push_fails"
    }

    /// The device's database.
    package var replica: ReplicaID
    /// The replica's principal.
    package var principal: Principal
    /// The way in which it does not get on.
    package var kind: Kind
    /// The number of times in a row, at most once per touch interval.
    package var count: Int
    /// The first of them.
    package var since: Instant
    /// The last of them.
    package var lastAt: Instant
    /// The code of the last failure; empty if nothing failed.
    package var code: String

    /// Creates a record.
    package init(
        replica: ReplicaID, principal: Principal, kind: Kind, count: Int, since: Instant, lastAt: Instant, code: String
    ) {
        self.replica = replica
        self.principal = principal
        self.kind = kind
        self.count = count
        self.since = since
        self.lastAt = lastAt
        self.code = code
    }
}

extension DeviceTrouble: Coded {
    package init() {
        let none = ReplicaID(rawValue: 0)
        self.init(replica: none, principal: Principal(), kind: .pull, count: 0, since: 0, lastAt: 0, code: "")
    }

    /// Codes what its key does not have.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&count, &since, &lastAt, &code)
    }
}

/// Decides which devices count as stuck.
package struct StuckRule: Hashable, Sendable {
    /// The number of times that a device comes with the same cursor, or again without one; 0 for never.
    package var repeats: Int
    /// The number of its pushes that fail in a row; 0 for never.
    package var pushes: Int
    /// The time for which its pulls or pushes fail, in milliseconds; 0 for never.
    package var time: Int64

    /// The time after which a device that does not try any more is not stuck but away.
    package static let unseen: Int64 = 7 * 86_400_000

    /// Creates a rule.
    package init(repeats: Int, pushes: Int, time: Int64) {
        self.repeats = repeats
        self.pushes = pushes
        self.time = time
    }

    /// Returns true if a device with this trouble is stuck, unless it has not tried for long.
    package func isMet(by trouble: DeviceTrouble) -> Bool {
        switch trouble.kind {
        case .sameCursor, .firstSync: repeats > 0 && trouble.count >= repeats
        case .pull: hasLasted(trouble)
        case .push: (pushes > 0 && trouble.count >= pushes) || hasLasted(trouble)
        }
    }

    private func hasLasted(_ trouble: DeviceTrouble) -> Bool {
        time > 0 && trouble.count > 1 && trouble.lastAt.milliseconds(since: trouble.since) >= time
    }
}

extension DeviceTrouble {
    /// Returns the record after one more time; nil if it stays as it is.
    package func again(code: String, count: Int, at now: Instant, interval: Int64) -> DeviceTrouble? {
        var next = self
        next.code = code
        if isDue(now, after: lastAt, interval) {
            next.count = max(self.count + 1, count)
            next.lastAt = now
        }
        return next == self ? nil : next
    }
}
