// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps the records that a 409 has promised to a replica.
package enum RedeliveryRules {
    /// A record that a replica must get once more.
    struct Redelivery: Coded {
        var count = 0
        var since: Instant = 0
        /// The cursor of the answer that has brought the record.
        var delivered: Cursor?

        mutating func code(with coder: inout Coder) throws(StateError) {
            try coder.code(&count, &since)
            try coder.code(&delivered)
        }
    }

    private static let maximumCount = 1_000_000

    static func rowKey(_ redelivery: PendingRedelivery, to replica: ReplicaID, _ owner: Int64) -> RowKey {
        RowKey(
            .owed, of: owner,
            replica.rawValue.keyBytes + PushedRecordKey(table: redelivery.table, id: redelivery.id).keyBytes)
    }

    /// Returns the pending redeliveries of a replica that one of its cursors has not brought, at most `limit`, by table
    /// and record.
    package static func pending(
        for replica: ReplicaID, at cursor: Cursor, limit: Int, of account: inout Account
    ) throws -> [PendingRedelivery] {
        guard let known = try account.replica(replica) else { return [] }
        return Array(try pending(for: known, at: cursor, of: &account).prefix(max(0, limit)))
    }

    /// Returns the redeliveries that a cursor of the replica has not brought, by table and record.
    static func pending(
        for replica: ReplicaHead, at cursor: Cursor, of account: inout Account
    ) throws -> [PendingRedelivery] {
        guard replica.owed > 0 else { return [] }
        return try rows(of: replica.id, in: &account).compactMap { row in
            let redelivery = try Redelivery(decoding: row.bytes)
            guard redelivery.delivered.map({ $0 > cursor }) ?? true else { return nil }
            let record = PushedRecordKey(keyBytes: row.key.key.dropFirst(8))
            return PendingRedelivery(table: record.table, id: record.id, count: redelivery.count)
        }
    }

    private static func rows(of replica: ReplicaID, in account: inout Account) throws -> [ByteRow] {
        try account.rows(.owed, prefix: replica.rawValue.keyBytes)
    }

    /// Records the redeliveries that a 409 has named, and counts another 409 for those known already; an unknown
    /// replica is not an error.
    package static func schedule(
        _ redeliveries: [PendingRedelivery], to replica: ReplicaID, at now: Instant, in account: inout Account
    ) throws {
        let keys = redeliveries.map { rowKey($0, to: replica, account.owner) }
        try account.need(keys.map(Lookup.row))
        guard try account.replica(replica) != nil else { return }
        for (redelivery, row) in zip(redeliveries, keys) {
            guard RecordID.isSafe(redelivery.id) else { throw StateError.invalid("record id") }
            _ = try key(redelivery.table, "table")
            let known = try account.value(row, as: Redelivery.self)?.value
            let next = Redelivery(count: min((known?.count ?? 0) + 1, maximumCount), since: now)
            try account.put(next, at: row)
            if known == nil { try account.withReplica(replica) { $0.owed += 1 } }
        }
    }

    /// Notes that an answer brings a redelivery.
    static func deliver(
        _ redelivery: PendingRedelivery, to replica: ReplicaID, with cursor: Cursor, in account: inout Account
    ) throws {
        let row = rowKey(redelivery, to: replica, account.owner)
        guard var known = try account.value(row, as: Redelivery.self)?.value else { return }
        known.delivered = cursor
        try account.put(known, at: row)
    }

    /// Forgets the redeliveries of records that were pushed successfully.
    package static func drop(
        _ redeliveries: [PendingRedelivery], of replica: ReplicaID, in account: inout Account
    ) throws {
        guard let known = try account.replica(replica), known.owed > 0 else { return }
        let keys = redeliveries.map { rowKey($0, to: replica, account.owner) }
        try account.need(keys.map(Lookup.row))
        for row in Set(keys) where try account.value(row, as: Redelivery.self) != nil {
            account.delete(row)
            try account.withReplica(replica) { $0.owed -= 1 }
        }
    }

    static func dropAll(of replica: ReplicaHead, in account: inout Account) throws {
        guard replica.owed > 0 else { return }
        for row in try rows(of: replica.id, in: &account) { account.delete(row.key) }
    }

    /// Deletes those that were delivered and are no longer counted, and those that no device came for.
    static func collect(_ replica: inout ReplicaHead, _ retention: Retention, in account: inout Account) throws {
        guard replica.owed > 0 else { return }
        for row in try rows(of: replica.id, in: &account) {
            let redelivery = try Redelivery(decoding: row.bytes)
            guard
                redelivery.since < retention.undoBefore,
                redelivery.delivered != nil || redelivery.since < retention.seenBefore
            else { continue }
            account.delete(row.key)
            replica.owed -= 1
        }
    }
}

extension PushedRecordKey {
    /// The record as bytes: the table, which has no NUL, a NUL, and the id.
    var keyBytes: [UInt8] { Array(table.utf8) + [0] + Array(id.utf8) }

    /// Reads ``keyBytes``.
    package init(keyBytes bytes: ArraySlice<UInt8>) {
        let end = bytes.firstIndex(of: 0) ?? bytes.endIndex
        self.init(
            table: String(decoding: bytes[..<end], as: UTF8.self),
            id: String(decoding: bytes[end...].dropFirst(), as: UTF8.self))
    }
}
