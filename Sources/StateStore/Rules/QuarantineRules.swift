// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps the pushed records that the backend has refused and that their devices believe synced.
package enum QuarantineRules {
    private static func rowKey(_ record: PushedRecordKey, _ owner: Int64) -> RowKey {
        RowKey(.push, of: owner, record.keyBytes)
    }

    private static func body(_ number: Int64, _ owner: Int64) -> RowKey {
        RowKey(.pushBody, of: owner, number: number)
    }

    /// Returns an entry without its record's contents; the reason of one that cannot be read says so.
    package static func entry(_ row: ByteRow, of principal: Principal) -> QuarantinedPush {
        var entry = (try? QuarantinedPush(decoding: row.bytes)) ?? .damaged
        (entry.id, entry.principal) = (row.number, principal)
        entry.push.key = PushedRecordKey(keyBytes: row.key.key[...])
        return entry
    }

    /// Returns an entry with its record's contents.
    package static func whole(_ row: ByteRow, of account: inout Account) throws -> QuarantinedPush {
        var entry = entry(row, of: account.principal)
        entry.push.body = try account.value(body(entry.id, account.owner), as: CodedBytes.self)?.value.bytes ?? []
        return entry
    }

    /// Returns the quarantined records with their kinds.
    package static func kinds(of account: inout Account) throws -> [PushedRecordKey: OperationKind] {
        guard let head = try account.head(), head.quarantined > 0 else { return [:] }
        return try account.rows(.push).reduce(into: [:]) {
            $0[PushedRecordKey(keyBytes: $1.key.key[...])] = try QuarantinedPush(decoding: $1.bytes).push.kind
        }
    }

    /// Puts records into quarantine, each in place of an older entry of the same record, whose scheduled retry is
    /// cancelled.
    ///
    /// An update of a record whose create is in quarantine stays a create: the backend has never had the record. No
    /// entry is ever collected: the operator decides.
    ///
    /// - Returns: The numbers of the entries, in the order of the records.
    /// - Throws: ``StateError/tooLarge(_:)`` if the principal would have more than `limit` entries.
    package static func add(
        _ pushes: [QuarantinedOperation], limit: Int, at now: Instant, in account: inout Account
    ) throws -> [Int64] {
        guard !pushes.isEmpty else { return [] }
        let keys = pushes.map { rowKey($0.key, account.owner) }
        try account.need(keys.map(Lookup.row))
        let head = try account.withHead(at: now) { $0 }
        let fresh = try Set(keys).filter { try account.rows(.row($0)).isEmpty }
        guard head.quarantined + fresh.count <= limit else {
            throw StateError.tooLarge("quarantine of a principal's pushes")
        }
        var numbers = try account.numbers(of: .push, count: fresh.count)[...]
        return try zip(pushes, keys).map { push, row in
            _ = try key(push.key.table, "table")
            let known = try account.value(row, as: QuarantinedPush.self)
            var reason = push.reason
            reason.message = reason.message.map { remark($0, limit: 1_024) }
            var entry = QuarantinedPush()
            entry.push.kind = push.kind(after: known?.value.push.kind)
            entry.push.reason = reason
            (entry.isWhole, entry.count) = (known != nil, (known?.value.count ?? 0) + 1)
            (entry.firstAt, entry.lastAt) = (known?.value.firstAt ?? now, max(known?.value.lastAt ?? now, now))
            guard let number = known?.row.number ?? numbers.popFirst() else { throw StateError.failed("no number") }
            try account.put(entry, at: row, number: number)
            try account.put(CodedBytes(bytes: push.body), at: body(number, account.owner))
            let wasMarked = known?.value.markedAt != nil
            try account.withHead(at: now) { head in
                if known == nil { head.quarantined += 1 }
                if wasMarked { head.scheduled -= 1 }
            }
            return number
        }
    }

    /// Removes the entries of records; returns how many there were.
    @discardableResult
    package static func remove(_ records: [PushedRecordKey], in account: inout Account) throws -> Int {
        guard let head = try account.head(), head.quarantined > 0 else { return 0 }
        let keys = Set(records.map { rowKey($0, account.owner) })
        try account.need(keys.map(Lookup.row))
        let found = try keys.compactMap { try account.row($0) }
        for row in found {
            account.delete(row.key)
            account.delete(body(row.number, account.owner))
        }
        guard !found.isEmpty else { return 0 }
        let entries = found.compactMap { try? QuarantinedPush(decoding: $0.bytes) }
        // Whether one that cannot be read was marked is unknown: of the others it is known.
        let marked = entries.count < found.count ? try marks(in: &account) : nil
        try account.withKnownHead { head in
            head.quarantined -= found.count
            head.scheduled = marked ?? head.scheduled - entries.count { $0.markedAt != nil }
        }
        return found.count
    }

    /// Removes the entry of a record, unless another one has taken its place; returns true if it was there.
    package static func drop(_ record: PushedRecordKey, number: Int64, in account: inout Account) throws -> Bool {
        let known = try account.row(rowKey(record, account.owner))
        return try known?.number == number && remove([record], in: &account) > 0
    }

    /// Returns how many entries are marked, without those that the rule has removed.
    private static func marks(in account: inout Account) throws -> Int {
        try account.rows(.push, prefix: []).count { (try? QuarantinedPush(decoding: $0.bytes))?.markedAt != nil }
    }

    /// Returns the scheduled retries, oldest first.
    package static func scheduled(limit: Int, of account: inout Account) throws -> [QuarantinedPush] {
        guard let head = try account.head(), head.scheduled > 0 else { return [] }
        let rows = try account.rows(.push).filter { try QuarantinedPush(decoding: $0.bytes).markedAt != nil }
            .sorted { $0.number < $1.number }.prefix(max(0, limit))
        try account.need(rows.map { .row(body($0.number, account.owner)) })
        return try rows.map { try whole($0, of: &account) }
    }

    /// Counts a retry whose outcome is unknown; returns how many there were since the entry was scheduled.
    package static func countTry(
        of record: PushedRecordKey, number: Int64, at now: Instant, in account: inout Account
    ) throws -> Int {
        try change(record, number: number, in: &account) { entry in
            entry.lastAt = max(entry.lastAt, now)
            entry.tries += 1
        }?.tries ?? 0
    }

    /// Records that a retry was refused: the entry is not scheduled any more, and its count rises.
    ///
    /// An entry that is gone is not an error.
    package static func refuseAgain(
        _ record: PushedRecordKey, number: Int64, reason: QuarantinedOperation.Reason, at now: Instant,
        in account: inout Account
    ) throws {
        try change(record, number: number, in: &account) { entry in
            entry.markedAt = nil
            entry.count += 1
            entry.lastAt = max(entry.lastAt, now)
            entry.push.reason = reason
            entry.push.reason.message = reason.message.map { remark($0, limit: 1_024) }
        }
    }

    /// Schedules an entry to be retried.
    package static func schedule(
        _ record: PushedRecordKey, number: Int64, at now: Instant, in account: inout Account
    ) throws {
        try change(record, number: number, in: &account) { entry in
            entry.markedAt = now
            entry.tries = 0
        }
    }

    /// Changes the entry of a record, unless another one has taken its place.
    @discardableResult
    private static func change(
        _ record: PushedRecordKey, number: Int64, in account: inout Account, _ body: (inout QuarantinedPush) -> Void
    ) throws -> QuarantinedPush? {
        let row = rowKey(record, account.owner)
        guard let known = try account.value(row, as: QuarantinedPush.self), known.row.number == number else {
            return nil
        }
        var entry = known.value
        body(&entry)
        try account.put(entry, at: row, number: known.row.number)
        let change = (entry.markedAt == nil ? 0 : 1) - (known.value.markedAt == nil ? 0 : 1)
        try account.withKnownHead { $0.scheduled += change }
        return entry
    }
}
