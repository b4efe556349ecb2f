// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Why a backend refuses a push.
package struct PushRefusal: Hashable, Sendable {
    /// Of what kind it is.
    package enum Kind: String, Hashable, Sendable {
        /// Somebody else has changed a record since; the client pulls and tries again.
        case conflict = "push.conflict"
        /// Nobody can tell whether somebody else has: the client has to pull first.
        case outdated = "push.outdated"
        /// The backend will never take a record as it is.
        case rejected = "push.rejected"
    }
    /// Why an operation cannot be sent at all; the raw value is the stable code.
    package enum Obstacle: String, Hashable, CaseIterable, Sendable {
        /// Its id, or what else of it goes into the address, could reach another one (`proxy.ambiguous_target`).
        case unsafeID = "push.unsafe_id"
        /// The call has no place for what the record has, or needs what it has not.
        case unsendable = "push.unsendable"
    }
    /// One record that it is about.
    package struct Record: Hashable, Sendable {
        /// The client's name of the table.
        package var table: String
        /// The record's id.
        package var id: String
        /// Why, in one sentence, with what the backend says; cut, and for operators only.
        package var message: String?
        /// The call that the backend refuses, as the configuration writes it: `PATCH /tasks/{id}`.
        package var call: String?
        /// The HTTP status that its own call got.
        package var status: Int?
        /// The place of its operation in the plan.
        package var place: Int
        /// Why the backend was not even asked; nil where it was.
        package var obstacle: Obstacle?
        /// A record.
        package init(
            table: String, id: String, message: String? = nil, call: String? = nil, status: Int? = nil, place: Int = 0,
            obstacle: Obstacle? = nil
        ) {
            self.call = call
            self.obstacle = obstacle
            self.place = place
            self.status = status
            self.table = table
            self.id = id
            self.message = message
        }
    }
    /// Of what kind it is.
    package var kind: Kind
    /// What it is about.
    package var records: [Record]
    /// The stable code: of what was not even sent, why.
    package var code: String { records.first?.obstacle?.rawValue ?? kind.rawValue }
    /// A refusal.
    package init(kind: Kind, records: [Record]) {
        self.kind = kind
        self.records = records
    }
}
