// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps the lines of streams that could not be delivered, once for all principals that have met them.
package enum LineRules {
    /// A line with its history, but for the number of times, which is its row's version.
    struct Line: Coded {
        var line = QuarantinedLine(reason: .noID)
        var reason = ""
        var principal = ""
        var user: String?
        var scope: String?
        var firstSeen: Instant = 0
        var lastSeen: Instant = 0

        mutating func code(with coder: inout Coder) throws(StateError) {
            try coder.code(&reason, &line.type, &line.namespace, &line.table, &line.id)
            try coder.code(&line.bytes)
            try coder.code(hex: &principal)
            try coder.code(&user, &scope, &firstSeen, &lastSeen)
        }
    }

    /// The amount that is subtracted from the rank of lines whose records went out all the same: they give way first.
    private static let delivered: Int64 = 1 << 52

    /// Returns the lookups that ``add(_:at:in:)`` needs.
    static func lookups(_ lines: [QuarantinedLine]) -> [Lookup] {
        lines.isEmpty ? [] : [.count(.line, of: 0, prefix: []), oldest(lines.count)] + lines.map { .row($0.key) }
    }

    private static func oldest(_ count: Int) -> Lookup {
        .all(.line, by: .rank, after: nil, limit: count, descending: false)
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
            var stored = Line(
                line: line, reason: line.reason.rawValue, principal: account.principal.rawValue,
                user: account.principal.origin?.user, scope: account.principal.origin?.scope,
                firstSeen: try old.map { try Line(decoding: $0.bytes).firstSeen } ?? now, lastSeen: now)
            stored.line.type = line.type.map { remark($0) }
            stored.line.namespace = line.namespace.map { remark($0) }
            stored.line.table = line.table.map { remark($0) }
            stored.line.id = line.id.map { remark($0, limit: 1_024) }
            stored.line.bytes = Array(line.bytes.prefix(max(0, limits.quarantineBytes)))
            let row = ByteRow(
                key: key, version: 1, number: old?.number ?? numbers.popFirst() ?? 0,
                rank: now.milliseconds - (line.reason.isDelivered ? delivered : 0), bytes: try stored.encoded())
            known[key] = row
            account.count(row)
        }
        let surplus = max(0, kept + fresh - room)
        for row in try account.rows(oldest(lines.count)).prefix(surplus) { account.delete(row.key) }
        let dropped = surplus + max(0, lines.count - room)
        if dropped > 0 { account.increment(.droppedLines, by: Int64(dropped)) }
    }

    /// Returns the key of the lines of a reason, before their numbers.
    package static func prefix(_ reason: QuarantinedLine.Reason) -> [UInt8] { Array(reason.rawValue.utf8) + [0] }

    /// Returns an entry; nil for a reason that only a newer gateway knows.
    package static func entry(_ row: ByteRow) throws -> QuarantineEntry? {
        var stored = try Line(decoding: row.bytes)
        guard let reason = QuarantinedLine.Reason(rawValue: stored.reason) else { return nil }
        stored.line.reason = reason
        let origin = stored.user.flatMap { user in
            stored.scope.map { Principal.Origin(user: user, scope: $0) }
        }
        return QuarantineEntry(
            id: row.number, line: stored.line, principal: Principal(rawValue: stored.principal, origin: origin),
            count: Int(row.version), firstSeen: stored.firstSeen, lastSeen: stored.lastSeen)
    }
}

extension QuarantinedLine {
    /// The key of the row that two equal lines share: the reason, and 64 bits made from place and id, or from the bytes
    /// if no id could be read; two different lines with the same bits count as one.
    fileprivate var key: RowKey {
        var coder = Coder()
        for var part in [type, namespace, table, id] { try? coder.code(&part) }
        let bytes = coder.bytes + (id == nil ? self.bytes : [])
        var sum = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        sum = (sum ^ sum >> 30) &* 0xbf58_476d_1ce4_e5b9
        return RowKey(.line, of: 0, LineRules.prefix(reason) + Int64(bitPattern: sum ^ sum >> 31).keyBytes)
    }
}
