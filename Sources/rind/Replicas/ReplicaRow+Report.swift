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
        .object([
            "id": .string(id.description), "principal": .string(principal.description), "confirmed": .bool(isConfirmed),
            "schema_version": .integer(schemaVersion.map(Int64.init)), "first_seen": .moment(firstSeen),
            "last_seen": .moment(lastSeen), "last_result": .string(lastResult),
            "cursor": .integer(newest?.rawValue), "records": .integer(records), "ledger_bytes": .integer(ledgerBytes),
            "held_back": .array(blocked.map { .string($0) }),
        ])
    }
}

/// Points in time as the commands on the state show them.
enum MomentText {
    /// Returns a text such as `2026-11-21T08:37:15Z`.
    static func seconds(_ moment: Instant) -> String { TimeText.utc(moment).prefix(19) + "Z" }

    /// Returns a cursor with the time that it also is.
    static func cursor(_ cursor: Cursor) -> String { "\(cursor) (\(seconds(cursor.time)))" }
}
