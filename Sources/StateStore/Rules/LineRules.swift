// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps the lines of streams that could not be delivered, once for all principals that have met them.
package enum LineRules {
    /// The amount that is subtracted from the rank of lines whose records went out all the same: they give way first.
    private static let delivered: Int64 = 1 << 52

    /// Returns the lookups that ``add(_:at:in:)`` needs.
    static func lookups(_ lines: [QuarantinedLine]) -> [Lookup] {
        lines.isEmpty ? [] : [.count(.line, of: 0, prefix: []), oldest(lines.count)] + lines.map { .row($0.key) }
    }

    /// Returns the lookup of the oldest lines, some more than have to go: others may have left too many, and none goes
    /// that has just come again.
    private static func oldest(_ count: Int) -> Lookup {
        .all(.line, by: .rank, after: nil, limit: 2 * count + 8, descending: false)
    }

    /// Keeps lines; one that is known already is only counted, and the oldest give way.
    static func add(_ lines: [QuarantinedLine], at now: Instant, in account: inout Account) throws {
        guard !lines.isEmpty else { return }
        let limits = account.setting.limits
        let room = max(1, limits.quarantineEntries)
        let kept = Int(try account.rows(.count(.line, of: 0, prefix: [])).first?.number ?? 0)
        let keys = lines.prefix(room).map(\.key)
        var known = try Dictionary(uniqueKeysWithValues: Set(keys).map { ($0, try account.rows(.row($0)).first) })
        let fresh = known.values.count { $0 == nil }
        var numbers = try account.numbers(of: .line, count: fresh)[...]
        for (line, key) in zip(lines, keys) {
            let old = known[key] ?? nil
            var stored = QuarantineEntry(
                id: 0, line: line, principal: account.principal, count: 0,
                firstSeen: old.flatMap { try? QuarantineEntry(decoding: $0.bytes).firstSeen } ?? now, lastSeen: now)
            stored.line.type = line.type.map { remark($0) }
            stored.line.namespace = line.namespace.map { remark($0) }
            stored.line.table = line.table.map { remark($0) }
            stored.line.id = line.id.map { remark($0, limit: 1_024) }
            stored.line.bytes = Array(line.bytes.prefix(max(0, limits.quarantineBytes)))
            let row = ByteRow(
                key: key, version: 1, number: old?.number ?? numbers.popFirst() ?? 0,
                rank: now.milliseconds - (line.reason.isDelivered ? delivered : 0), bytes: try stored.encoded())
            known[key] = row
            account.changes.counted.append(row)
        }
        let surplus = max(0, kept + fresh - room)
        let gone = try account.rows(oldest(lines.count)).filter { !known.keys.contains($0.key) }.prefix(surplus)
        for row in gone { account.delete(row.key) }
        let dropped = gone.count + max(0, lines.count - room)
        if dropped > 0 { account.increment(.droppedLines, by: Int64(dropped)) }
    }

    /// Returns the key of the lines of a reason, before their numbers.
    package static func prefix(_ reason: QuarantinedLine.Reason) -> [UInt8] { Array(reason.rawValue.utf8) + [0] }

    /// Returns an entry; nil for a reason that only a newer gateway knows.
    ///
    /// One that cannot be read has no principal, and its type says so: it can be dropped.
    package static func entry(_ row: ByteRow) -> QuarantineEntry? {
        let name = String(decoding: row.key.key.prefix { $0 != 0 }, as: UTF8.self)
        guard let reason = QuarantinedLine.Reason(rawValue: name) else { return nil }
        var entry: QuarantineEntry
        do {
            entry = try QuarantineEntry(decoding: row.bytes)
        } catch {
            entry = QuarantineEntry()
            entry.line.type = error.code
        }
        (entry.id, entry.line.reason, entry.count) = (row.number, reason, Int(row.version))
        return entry
    }
}

/// A quarantined line with its history.
package struct QuarantineEntry: Hashable, Sendable {
    /// The entry's number in the state.
    package var id: Int64
    /// The line; its texts and bytes may have been cut to the limits of the store.
    package var line: QuarantinedLine
    /// The principal for whose pull the line came last.
    package var principal: Principal
    /// The number of times that the line came.
    package var count: Int
    /// The time at which the line first came.
    package var firstSeen: Instant
    /// The time at which the line last came.
    package var lastSeen: Instant
}

/// The numbers of lines in the quarantine.
package struct QuarantineCounts: Hashable, Sendable {
    /// The number of different lines that are kept.
    package var entries: Int
    /// The number of different lines that are kept for each reason.
    package var byReason: [QuarantinedLine.Reason: Int]
    /// The number of lines dropped for lack of room, since the state began.
    package var dropped: Int

    /// Creates counts; without arguments, those of an empty quarantine.
    package init(entries: Int = 0, byReason: [QuarantinedLine.Reason: Int] = [:], dropped: Int = 0) {
        self.entries = entries
        self.byReason = byReason
        self.dropped = dropped
    }
}

extension QuarantineEntry: Coded {
    package init() {
        self.init(
            id: 0, line: QuarantinedLine(reason: .noID), principal: Principal(), count: 0, firstSeen: 0, lastSeen: 0)
    }

    /// Codes all but the reason, the number and the count, which its row has.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&line.type, &line.namespace, &line.table, &line.id)
        try coder.code(&line.bytes)
        try coder.code(&principal, &firstSeen, &lastSeen)
    }
}

extension QuarantinedLine {
    /// The key of the row that two equal lines share: the reason, and 64 bits made from place and id, or from the bytes
    /// if no id could be read; two different lines with the same bits count as one.
    fileprivate var key: RowKey {
        var coder = Coder()
        for var part in [type, namespace, table, id] { try? coder.code(&part) }
        let bytes = coder.bytes + (id == nil ? self.bytes : [])
        var sum = bytes.fnv
        sum = (sum ^ sum >> 30) &* 0xbf58_476d_1ce4_e5b9
        return RowKey(.line, of: 0, LineRules.prefix(reason) + Int64(bitPattern: sum ^ sum >> 31).keyBytes)
    }
}
