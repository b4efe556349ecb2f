// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import StateStore
import SyncModel

extension ReplicaRow {
    /// The number of records that the device holds, by its ledger.
    var records: Int { ledger.values.reduce(0) { $0 + $1.held } }

    /// The cells of a row of `list`.
    var summary: JSONValue {
        var rest: [JSONValue.Member] = [
            .init("confirmed", .bool(isConfirmed)), .init("schema_version", .integer(schemaVersion.map(Int64.init))),
            .init("first_seen", .moment(firstSeen)), .init("last_seen", .moment(lastSeen)),
            .init("last_result", .string(lastResult)), .init("cursor", .integer(newest?.rawValue)),
            .init("records", .integer(records)), .init("ledger_bytes", .integer(ledgerBytes)),
            .init("held_back", .array(blocked.map { .string($0) })),
        ]
        if isDamaged { rest = rest.unknown(but: ["last_result"]) }
        return .object([JSONValue.Member("id", .string(id.description))] + principal.members + rest)
    }
}

extension [JSONValue.Member] {
    /// Returns the members of something that cannot be read: all but these are unknown.
    func unknown(but known: Set<String>) -> Self { map { known.contains($0.name) ? $0 : .init($0.name, .null) } }
}

/// Points in time as the commands on the state show them.
enum MomentText {
    /// Returns a text such as `2026-11-21T08:37:15Z`.
    static func seconds(_ moment: Instant) -> String { TimeText.utc(moment).prefix(19) + "Z" }

    /// Returns a cursor with the time that it also is.
    static func cursor(_ cursor: Cursor) -> String { "\(cursor) (\(seconds(cursor.time)))" }
}
