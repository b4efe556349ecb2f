// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps refused operations, so that an operator can see why a device cannot push.
package enum RefusalRules {
    private static func rowKey(_ record: PushedRecordKey, _ owner: Int64) -> RowKey {
        RowKey(.refusal, of: owner, record.keyBytes)
    }

    private static func entry(_ row: ByteRow) throws -> RefusalEntry {
        var entry = try RefusalEntry(decoding: row.bytes)
        entry.operation.key = PushedRecordKey(keyBytes: row.key.key[...])
        return entry
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
            let known = try account.rows(.refusal).first { $0.key == row }.map(entry)
            var refusal = RefusalEntry(
                operation: operation, count: (known?.count ?? 0) + 1, firstAt: known?.firstAt ?? now,
                lastAt: max(known?.lastAt ?? now, now))
            refusal.operation.call = operation.call.map { remark($0) }
            refusal.operation.reason.message = operation.reason.message.map { remark($0, limit: 1_024) }
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

    static func collect(before: Instant, in account: inout Account) throws {
        for row in try account.rows(.refusal) where row.number < before.milliseconds { account.delete(row.key) }
    }
}

/// An operation of a push that was refused.
package struct RefusedOperation: Hashable, Sendable {
    /// The record that the operation was about.
    package var key: PushedRecordKey
    /// The kind of change that the client made.
    package var kind: OperationKind
    /// The call that the backend refused, as the configuration writes it; nil if there was none.
    package var call: String?
    /// The reason for the refusal.
    package var reason: QuarantinedOperation.Reason

    /// Creates a refused operation.
    package init(
        key: PushedRecordKey, kind: OperationKind, call: String?, reason: QuarantinedOperation.Reason
    ) {
        self.key = key
        self.kind = kind
        self.call = call
        self.reason = reason
    }
}

/// A refused operation with its history.
package struct RefusalEntry: Hashable, Sendable {
    /// The operation that was refused last.
    package var operation: RefusedOperation
    /// The number of refused operations on the record.
    package var count: Int
    /// The time of the first refusal.
    package var firstAt: Instant
    /// The time of the last refusal.
    package var lastAt: Instant
}

extension RefusalEntry: Coded {
    package init() {
        let operation = RefusedOperation(key: PushedRecordKey(), kind: .create, call: nil, reason: .init(code: ""))
        self.init(operation: operation, count: 0, firstAt: 0, lastAt: 0)
    }

    /// Codes all but the record, which its key has.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(raw: &operation.kind)
        try coder.code(&operation.call, &operation.reason, &count, &firstAt, &lastAt)
    }
}
