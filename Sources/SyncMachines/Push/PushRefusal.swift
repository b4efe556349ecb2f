// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The refusal of a push by the backend.
package struct PushRefusal: Hashable, Sendable {
    /// The kind of the refusal.
    package enum Kind: String, Hashable, Sendable {
        /// A record has been changed by another writer since; the client pulls and tries again.
        case conflict = "push.conflict"
        /// A conflict cannot be excluded: the client has to pull first.
        case outdated = "push.outdated"
        /// The backend will never take a record as it is.
        case rejected = "push.rejected"
    }
    /// The reason why an operation cannot be sent at all; the raw value is the stable code.
    package enum Obstacle: String, Hashable, CaseIterable, Sendable {
        /// Its id, or what else of it goes into the address, could reach another one (`proxy.ambiguous_target`).
        case unsafeID = "push.unsafe_id"
        /// The call cannot carry the record's values, or needs values that the record lacks.
        case unsendable = "push.unsendable"
    }
    /// One record that it is about.
    package struct Record: Hashable, Sendable {
        /// The client's name of the table.
        package var table: String
        /// The record's id.
        package var id: String
        /// The reason, in one sentence, with the backend's explanation; cut, and for operators only.
        package var message: String?
        /// The call that the backend refuses, as the configuration writes it: `PATCH /tasks/{id}`.
        package var call: String?
        /// The HTTP status that its own call got.
        package var status: Int?
        /// The index of its operation in the plan.
        package var index: Int
        /// The reason why the operation was not sent; nil if it was.
        package var obstacle: Obstacle?
        /// True if the record refers to one that its device does not have any more, and that the push does not create.
        package var isOrphan = false
        /// The stable code; nil if that of the refusal says it.
        package var code: String? { obstacle?.rawValue ?? (isOrphan ? "push.parent_gone" : nil) }
        /// Creates a record.
        package init(
            table: String, id: String, message: String? = nil, call: String? = nil, status: Int? = nil, index: Int = 0,
            obstacle: Obstacle? = nil
        ) {
            self.call = call
            self.obstacle = obstacle
            self.index = index
            self.status = status
            self.table = table
            self.id = id
            self.message = message
        }
    }
    /// The kind of the refusal.
    package var kind: Kind
    /// The refused records.
    package var records: [Record]
    /// The stable code: of what was not even sent, why.
    package var code: String {
        let record = records.first { !$0.isOrphan } ?? records.first
        return record?.code ?? kind.rawValue
    }
    /// True if all of the records are orphans: neither their device nor its user can mend them.
    package var isOfOrphans: Bool { kind == .rejected && !records.isEmpty && records.allSatisfy(\.isOrphan) }
    /// Returns the refusal with these operations marked as orphans, as far as they were sent.
    package func marking(_ orphans: Set<Int>) -> PushRefusal {
        var refusal = self
        for index in records.indices where records[index].obstacle == nil {
            refusal.records[index].isOrphan = orphans.contains(records[index].index)
        }
        return refusal
    }
    /// Creates a refusal.
    package init(kind: Kind, records: [Record]) {
        self.kind = kind
        self.records = records
    }
}
