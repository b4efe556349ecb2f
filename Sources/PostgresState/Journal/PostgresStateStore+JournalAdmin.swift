// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore: JournalAdmin {
    /// Returns a principal's open journals by one index range, with their in-flight operations, in one round trip.
    package func openJournals(
        of principal: Principal
    ) async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        let owner = try PostgresParameter.principal(principal)
        let results = try await read([
            PostgresStatement(
                "SELECT \(PushJournal.columns) FROM push_journal WHERE principal = $1 AND state = 'open' ORDER BY id",
                [owner]),
            PostgresStatement(
                """
                SELECT \(InFlightOperation.columns) FROM push_flight
                WHERE journal IN (SELECT id FROM push_journal WHERE principal = $1 AND state = 'open') ORDER BY place
                """, [owner]),
        ])
        return try Self.journals(results)
    }

    /// Returns journals in the order of their numbers.
    package func journals(of principal: Principal?, after: Int64, limit: Int) async throws -> [PushJournal] {
        try await read([
            PostgresStatement(
                """
                SELECT \(PushJournal.columns) FROM push_journal
                WHERE id > $1 AND ($2::text IS NULL OR \(PostgresStatement.belongs("principal", to: "$2"))) ORDER BY id LIMIT $3
                """, [.integer(after), .text(principal?.rawValue), .int(page(limit))])
        ]).rows(0).map { try PushJournal($0) }
    }

    /// Reads one journal and its in-flight operations.
    package func journal(_ id: Int64) async throws -> (journal: PushJournal, inFlight: [InFlightOperation])? {
        let results = try await read([
            PostgresStatement("SELECT \(PushJournal.columns) FROM push_journal WHERE id = $1", [.integer(id)]),
            PostgresStatement(
                "SELECT \(InFlightOperation.columns) FROM push_flight WHERE journal = $1 ORDER BY place",
                [.integer(id)]),
        ])
        return try Self.journals(results).first
    }

    /// Puts journals together with their operations.
    private static func journals(
        _ results: [PostgresResult]
    ) throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        var inFlight: [Int64: [InFlightOperation]] = [:]
        for row in results.rows(1) { inFlight[try row.integer(0), default: []].append(try InFlightOperation(row)) }
        return try results.rows(0).map { row in
            let journal = try PushJournal(row)
            return (journal, inFlight[journal.id] ?? [])
        }
    }
}

extension PushJournal {
    /// The columns that ``init(_:)`` reads.
    fileprivate static let columns = """
        id, principal, presented, started_at, changed_at, state, operations, applied, rejected, found, lost, code,
        message, client_table, record, \(PostgresStatement.origin(of: "push_journal.principal"))
        """

    /// Reads a row of ``columns``.
    fileprivate init(_ row: PostgresRow) throws {
        guard let state = State(rawValue: try row.text(5)) else {
            throw StateError.corrupt("a journal of a push is in no state")
        }
        var failure: Failure?
        if let code = try row.optionalText(11) {
            let record = try row.optionalText(13).map { table in
                PushedRecordKey(table: table, id: try row.recordID(14))
            }
            failure = Failure(code: code, message: try row.optionalText(12), record: record)
        }
        try self.init(
            id: row.integer(0), principal: row.principal(1, origin: 15), presented: row.cursor(2),
            startedAt: row.instant(3), changedAt: row.instant(4), state: state, operations: row.amount(6),
            applied: row.amount(7), rejected: row.amount(8), found: row.amount(9), lost: row.amount(10),
            failure: failure)
    }
}

extension InFlightOperation {
    /// The columns that ``init(_:)`` reads, after the number of the journal.
    fileprivate static let columns = """
        journal, place, kind, client_table, record, makes_id, idempotency_key, method, target, body, sought
        """

    /// Reads a row of ``columns``.
    fileprivate init(_ row: PostgresRow) throws {
        var request: Request?
        if let key = try row.optionalText(6), let method = try row.optionalText(7),
            let target = try row.optionalText(8)
        {
            request = Request(method: method, target: target, body: try row.optionalBytes(9), key: key)
        }
        try self.init(
            index: Int(row.number(1)), kind: row.kind(2),
            record: PushedRecordKey(table: row.text(3), id: row.recordID(4)), makesID: row.bool(5), request: request,
            sought: row.optionalBytes(10))
    }
}
