// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Remembers the syncs of the last hour in bounded memory, for the operator's page.
///
/// Times are milliseconds since 1970.
package struct RecentSyncs: Sendable {
    /// The syncs that ended in one minute.
    package struct Minute: Hashable, Sendable {
        /// The minutes since 1970.
        package var number: Int64
        /// Those that were answered with success.
        package var succeeded = 0
        /// All others.
        package var others = 0
    }

    /// One sync.
    package struct Sync: Hashable, Sendable {
        /// The time at which it ended.
        package var endedAt: Int64
        /// The time that it took, in milliseconds.
        package var milliseconds: Int64
        /// `pull` or `push`, and its mode.
        package var kind: String
        /// The replica; nil if it is unknown.
        package var replica: String?
        /// The principal; empty if it is unknown.
        package var principal: String
        /// The scope; nil if there is none.
        package var scope: String?
        /// The code of its failure; empty if it has succeeded.
        package var code: String

        /// Creates a sync.
        package init(
            endedAt: Int64, milliseconds: Int64, kind: String, replica: String?, principal: String,
            scope: String? = nil,
            code: String
        ) {
            self.endedAt = endedAt
            self.milliseconds = milliseconds
            self.kind = kind
            self.replica = replica
            self.principal = principal
            self.scope = scope
            self.code = code
        }
    }

    /// Counts how often a code has come, and when last.
    package struct Failures: Hashable, Sendable {
        /// The number since the gateway began.
        package var count = 0
        /// The last time.
        package var lastAt: Int64 = 0
    }

    /// The number of minutes that are remembered.
    package static let span: Int64 = 60
    /// The minutes whose slowest syncs are kept together.
    private static let period: Int64 = 10
    /// The most slow syncs, and the most codes.
    private static let (slowest, codes) = (10, 200)

    private var minutes: [Minute] = []
    /// The number of syncs that ended in each of the last sixty seconds, at the second's remainder by sixty.
    private var seconds = Array(repeating: (number: Int64.min, count: 0), count: 60)
    /// The slowest syncs of each ten minutes, the slowest first, by the ten minutes since 1970: those of one period push
    /// out none of another, so the list is full again when they are old.
    private var slow: [Int64: [Sync]] = [:]
    /// The failures by their codes.
    package private(set) var failures: [String: Failures] = [:]

    /// Remembers nothing yet.
    package init() {}

    /// Adds a sync that has ended.
    package mutating func add(_ sync: Sync, isSuccess: Bool) {
        let number = sync.endedAt / 60_000
        if minutes.last?.number != number { minutes.append(Minute(number: number)) }
        let last = minutes.count - 1
        if isSuccess { minutes[last].succeeded += 1 } else { minutes[last].others += 1 }
        if minutes.count > Self.span { minutes.removeFirst() }
        let second = sync.endedAt / 1_000
        let slot = Int(second.magnitude % 60)
        seconds[slot] = (second, (seconds[slot].number == second ? seconds[slot].count : 0) + 1)
        if !sync.code.isEmpty, failures[sync.code] != nil || failures.count < Self.codes {
            failures[sync.code, default: Failures()].count += 1
            failures[sync.code]?.lastAt = sync.endedAt
        }
        let period = number / Self.period
        if slow[period] == nil { slow = slow.filter { abs($0.key - period) <= Self.span / Self.period } }
        var slowest = slow[period] ?? []
        let position = slowest.firstIndex { $0.milliseconds < sync.milliseconds } ?? slowest.count
        guard position < Self.slowest else { return }
        slowest.insert(sync, at: position)
        slow[period] = Array(slowest.prefix(Self.slowest))
    }

    /// Returns the number of syncs that ended in the last sixty seconds, this one included.
    package func lastMinute(at now: Int64) -> Int {
        let second = now / 1_000
        return seconds.reduce(0) { $0 + (second - 59...second ~= $1.number ? $1.count : 0) }
    }

    /// Returns the minutes up to now, the oldest first, with those in which nothing ended.
    package func lastHour(at now: Int64) -> [Minute] {
        let number = now / 60_000
        let known = Dictionary(minutes.map { ($0.number, $0) }) { $1 }
        return (number - Self.span + 1...number).map { known[$0] ?? Minute(number: $0) }
    }

    /// Returns the syncs that took longest in the last hour, the slowest first.
    package func slowest(at now: Int64) -> [Sync] {
        let recent = slow.values.joined().filter { $0.endedAt >= now - Self.span * 60_000 }
        let sorted = recent.sorted { ($0.milliseconds, $0.endedAt) > ($1.milliseconds, $1.endedAt) }
        return Array(sorted.prefix(Self.slowest))
    }
}
