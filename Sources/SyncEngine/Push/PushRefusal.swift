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
    /// One record that it is about.
    package struct Record: Hashable, Sendable {
        /// The client's name of the table.
        package var table: String
        /// The record's id.
        package var id: String
        /// What the backend says, cut; for the log.
        package var message: String?
        /// The HTTP status that its own call got.
        package var status: Int?
        /// The place of its operation in the plan.
        package var place: Int
        /// A record.
        package init(table: String, id: String, message: String? = nil, status: Int? = nil, place: Int = 0) {
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
    /// A refusal.
    package init(kind: Kind, records: [Record]) {
        self.kind = kind
        self.records = records
    }
}
