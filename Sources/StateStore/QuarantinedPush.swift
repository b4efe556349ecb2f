// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What names a pushed record: a principal has at most one entry for each.
package struct PushedRecordKey: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The record's id as the client has it: any text, compared byte by byte.
    package var id: String

    /// A name.
    package init(table: String, id: String) {
        self.table = table
        self.id = id
    }

    /// Whether both name the same record; `String` alone would also take different normal forms for equal.
    package static func == (a: Self, b: Self) -> Bool {
        a.table == b.table && a.id.utf8.elementsEqual(b.id.utf8)
    }

    /// Feeds what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(table)
        for byte in id.utf8 { hasher.combine(byte) }
    }
}

/// A pushed record that the backend has refused and that its client takes for synced.
package struct SetAsidePush: Hashable, Sendable {
    /// What the client did with the record.
    package enum Kind: String, CaseIterable, Sendable {
        case create, update, delete
    }

    /// Why it is there.
    package struct Reason: Hashable, Sendable {
        /// A stable code such as `push.rejected`.
        package var code: String
        /// The HTTP status that the record's own call got.
        package var status: Int?
        /// What the backend or the gateway says, cut.
        package var message: String?

        /// A reason.
        package init(code: String, status: Int? = nil, message: String? = nil) {
            self.code = code
            self.status = status
            self.message = message
        }
    }

    /// Which record it is.
    package var key: PushedRecordKey
    /// What the client did with it.
    package var kind: Kind
    /// The record's JSON as the client sent it; empty for a deletion.
    package var body: [UInt8]
    /// Why.
    package var reason: Reason

    /// A record to set aside.
    package init(key: PushedRecordKey, kind: Kind, body: [UInt8], reason: Reason) {
        self.key = key
        self.kind = kind
        self.body = body
        self.reason = reason
    }
}

/// A pushed record that is set aside, with its history.
package struct QuarantinedPush: Hashable, Sendable {
    /// Its number in the state.
    package var id: Int64
    /// Whose it is.
    package var principal: Principal
    /// What it is.
    package var push: SetAsidePush
    /// Whether all of the record must be sent although the client says that it has changed only a part of it: it stands
    /// for several pushes.
    package var isWhole: Bool
    /// How often the backend has refused it.
    package var count: Int
    /// When it was first refused, in milliseconds since 1970.
    package var firstAt: Int64
    /// When it was last refused, in milliseconds since 1970.
    package var lastAt: Int64
    /// When the operator has asked for it to be tried again; nil where nobody has since it was last refused.
    package var markedAt: Int64?

    /// An entry.
    package init(
        id: Int64, principal: Principal, push: SetAsidePush, isWhole: Bool = false, count: Int, firstAt: Int64,
        lastAt: Int64, markedAt: Int64? = nil
    ) {
        self.id = id
        self.principal = principal
        self.push = push
        self.isWhole = isWhole
        self.count = count
        self.firstAt = firstAt
        self.lastAt = lastAt
        self.markedAt = markedAt
    }
}
