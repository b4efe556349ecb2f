// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Identifies a pushed record: a principal has at most one entry for each.
package struct PushedRecordKey: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The id that the client uses: any text, compared byte by byte.
    package var id: String

    /// Creates a key.
    package init(table: String, id: String) {
        self.table = table
        self.id = id
    }

    /// Compares ids byte by byte; `String` alone would also take different normal forms for equal.
    package static func == (a: Self, b: Self) -> Bool {
        a.table == b.table && a.id.utf8.elementsEqual(b.id.utf8)
    }

    /// Feeds the values that `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(table)
        for byte in id.utf8 { hasher.combine(byte) }
    }
}

/// A pushed record that the backend has refused and that its client takes for synced.
package struct QuarantinedOperation: Hashable, Sendable {
    /// The reason why a record is in quarantine.
    package struct Reason: Hashable, Sendable {
        /// A stable code such as `push.rejected`.
        package var code: String
        /// The HTTP status that the record's own call got.
        package var status: Int?
        /// The message of the backend or the gateway, cut.
        package var message: String?

        /// Creates a reason.
        package init(code: String, status: Int? = nil, message: String? = nil) {
            self.code = code
            self.status = status
            self.message = message
        }
    }

    /// The record's table and id.
    package var key: PushedRecordKey
    /// The kind of change that the client made.
    package var kind: OperationKind
    /// The record's JSON as the client sent it; empty for a deletion.
    package var body: [UInt8]
    /// The reason why the record is in quarantine.
    package var reason: Reason

    /// Creates a record for the quarantine.
    package init(key: PushedRecordKey, kind: OperationKind, body: [UInt8], reason: Reason) {
        self.key = key
        self.kind = kind
        self.body = body
        self.reason = reason
    }

    /// Returns the kind of change that an entry has after this one, on top of the one that it had.
    ///
    /// The backend has never had a record whose creation is in quarantine.
    package func kind(after before: OperationKind?) -> OperationKind {
        before == .create && kind == .update ? .create : kind
    }
}

/// A pushed record in quarantine, with its history.
package struct QuarantinedPush: Hashable, Sendable {
    /// The entry's number in the state.
    package var id: Int64
    /// The principal that pushed the record.
    package var principal: Principal
    /// The pushed record.
    package var push: QuarantinedOperation
    /// True if the whole record must be sent although the client reported only some of it as changed: the entry
    /// combines several pushes.
    package var isWhole = false
    /// The number of times that the backend has refused the record.
    package var count: Int
    /// The time of the first refusal.
    package var firstAt: Instant
    /// The time of the last refusal or retry.
    package var lastAt: Instant
    /// The time at which the operator scheduled a retry; nil if that has not happened since the last refusal.
    package var markedAt: Instant?
    /// The number of retries with unknown outcome since it was marked.
    var tries = 0
}

extension QuarantinedPush: Coded {
    package init() {
        let push = QuarantinedOperation(key: PushedRecordKey(), kind: .create, body: [], reason: .init(code: ""))
        self.init(id: 0, principal: Principal(), push: push, count: 0, firstAt: 0, lastAt: 0)
    }

    /// True if nothing of the entry can be read: apart from its number, principal and record, it says nothing.
    package var isDamaged: Bool { push.reason.code == Coder.damage.code }

    /// The entry in place of one that cannot be read.
    static var damaged: Self {
        var entry = Self()
        entry.push.reason.code = Coder.damage.code
        return entry
    }

    /// Codes all but the record and the number, which its row has.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(raw: &push.kind)
        try coder.code(&push.reason, &isWhole, &count, &firstAt, &lastAt)
        try coder.code(&markedAt, &tries)
    }
}
