// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps refused operations, so that an operator can see why a device cannot push.
package enum RefusalRules {
    /// A refusal without its record, which the key has.
    struct Refusal: Coded {
        var kind = OperationKind.create
        var call: String?
        var reason = QuarantinedOperation.Reason(code: "")
        var count = 0
        var firstAt: Instant = 0
        var lastAt: Instant = 0

        mutating func code(with coder: inout Coder) throws(StateError) {
            try coder.code(raw: &kind)
            try coder.code(&call, &reason, &count, &firstAt, &lastAt)
        }
    }

    private static func rowKey(_ record: PushedRecordKey, _ owner: Int64) -> RowKey {
        RowKey(.refusal, of: owner, record.keyBytes)
    }

    private static func entry(_ row: ByteRow) throws -> RefusalEntry {
        let refusal = try Refusal(decoding: row.bytes)
        return RefusalEntry(
            operation: RefusedOperation(
                key: PushedRecordKey(keyBytes: row.key.key[...]), kind: refusal.kind, call: refusal.call,
                reason: refusal.reason), count: refusal.count, firstAt: refusal.firstAt, lastAt: refusal.lastAt)
    }

    /// Records the refused operations of a push, and its result, which `rind replicas` shows, as the replica's last
    /// one.
    ///
    /// Nothing is recorded for a principal that the state does not know.
    package static func note(
        _ operations: [RefusedOperation], replica: ReplicaID?, result: String, at now: Instant,
        in account: inout Account
    ) throws {
        guard try account.head() != nil else { return }
        let limit = max(1, account.setting.limits.refusalsPerPrincipal)
        for operation in operations.suffix(limit) {
            _ = try key(operation.key.table, "table")
            let row = rowKey(operation.key, account.owner)
            let known = try account.rows(.refusal).first { $0.key == row }.map { try Refusal(decoding: $0.bytes) }
            var refusal = Refusal(
                kind: operation.kind, call: operation.call.map { remark($0) }, reason: operation.reason,
                count: (known?.count ?? 0) + 1, firstAt: known?.firstAt ?? now, lastAt: max(known?.lastAt ?? now, now))
            refusal.reason.message = operation.reason.message.map { remark($0, limit: 1_024) }
            try account.put(refusal, at: row, number: refusal.lastAt.milliseconds)
        }
        for surplus in try newest(in: &account).dropFirst(limit) {
            account.delete(rowKey(surplus.operation.key, account.owner))
        }
        guard let replica else { return }
        try account.withReplica(replica) { replica in
            replica.lastSeen = max(replica.lastSeen, now)
            replica.lastResult = remark(result)
        }
    }

    /// Returns the refusals, newest first, at most `limit`.
    package static func newest(_ limit: Int = .max, in account: inout Account) throws -> [RefusalEntry] {
        let all = try account.rows(.refusal).map(entry).sorted {
            ($1.lastAt, $0.operation.key.table, $0.operation.key.id)
                < ($0.lastAt, $1.operation.key.table, $1.operation.key.id)
        }
        return Array(all.prefix(max(0, limit)))
    }

    /// Returns the last refusal of one record.
    package static func refusal(of record: PushedRecordKey, in account: inout Account) throws -> RefusalEntry? {
        try account.rows(.row(rowKey(record, account.owner))).first.map(entry)
    }

    /// Deletes those that are old.
    static func collect(before: Instant, in account: inout Account) throws {
        for row in try account.rows(.refusal) where row.number < before.milliseconds { account.delete(row.key) }
    }
}
