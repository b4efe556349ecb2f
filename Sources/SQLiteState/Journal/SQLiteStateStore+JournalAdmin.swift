// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore: JournalAdmin {
    private static let pageLimit = 10_000

    /// Returns journals in the order of their numbers.
    package func journals(of principal: Principal?, after: Int64, limit: Int) async throws -> [PushJournal] {
        try await read { db in
            var arguments: Database.Arguments = [after]
            if let principal { try arguments += [key(principal.rawValue, "principal")] }
            return try db.rows(
                """
                SELECT \(PushJournal.columns) FROM push_journal j JOIN principal p ON p.id = j.principal
                WHERE j.id > ?1 \(principal == nil ? "" : "AND \(Database.belongs("p.digest", to: "?2"))") ORDER BY j.id LIMIT \(min(max(0, limit), Self.pageLimit))
                """, arguments
            ).map { try PushJournal($0) }
        }
    }

    /// Reads one journal and its in-flight operations.
    package func journal(_ id: Int64) async throws -> (journal: PushJournal, inFlight: [InFlightOperation])? {
        try await read { db in
            try db.row(
                """
                SELECT \(PushJournal.columns) FROM push_journal j JOIN principal p ON p.id = j.principal WHERE j.id = ?
                """, [id]
            ).map { try (PushJournal($0), db.inFlight(of: id)) }
        }
    }
}

extension PushJournal {
    /// The columns that ``init(_:)`` reads.
    static let columns = """
        j.id, p.digest, j.presented, j.started_at, j.changed_at, j.state, j.operations, j.applied, j.rejected, j.found,
            j.lost, j.code, j.message, j.client_table, j.record, p.user_digest, p.scope
        """

    /// Reads a row of ``columns``.
    init(_ row: StoredRow) throws {
        guard let state = try State(rawValue: row.text(5)) else {
            throw StateError.corrupt("a journal of a push is in no state")
        }
        var failure: Failure?
        if let code = try row.optionalText(11) {
            let record = try row.optionalText(13).map { table in
                try PushedRecordKey(table: table, id: String(decoding: row.bytes(14), as: UTF8.self))
            }
            failure = try Failure(code: code, message: row.optionalText(12), record: record)
        }
        try self.init(
            id: row.integer(0), principal: row.principal(1, origin: 15),
            presented: row.optionalInteger(2).flatMap(Cursor.init(rawValue:)), startedAt: row.instant(3),
            changedAt: row.instant(4), state: state, operations: row.amount(6), applied: row.amount(7),
            rejected: row.amount(8), found: row.amount(9), lost: row.amount(10), failure: failure)
    }
}

extension InFlightOperation {
    /// Reads a row of index, kind, table, record, whether it makes an id, key, method, target, body and sought values.
    init(_ row: StoredRow) throws {
        guard let kind = try OperationKind(rawValue: row.text(1)) else {
            throw StateError.corrupt("an operation in flight is of no kind")
        }
        var request: Request?
        if let key = try row.optionalText(5), let method = try row.optionalText(6),
            let target = try row.optionalText(7)
        {
            request = try Request(method: method, target: target, body: row.optionalBytes(8), key: key)
        }
        try self.init(
            index: Int(row.number(0)), kind: kind,
            record: PushedRecordKey(table: row.text(2), id: String(decoding: row.bytes(3), as: UTF8.self)),
            makesID: row.integer(4) != 0, request: request, sought: row.optionalBytes(9))
    }
}
