// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

// Whether somebody else has changed what is pushed.
extension PushRunner {
    /// How many records a 409 tells more of than the id, at the most.
    private static let shownRecords = 128

    /// The operations of tables whose conflicts are looked for in the stream, by the table's place.
    var checked: [Int: [Int]] {
        let tables = services.configuration.schema.tables
        return Dictionary(grouping: plan.operations.indices) { plan.operations[$0].table }
            .filter { tables[$0.key].conflicts == .stream && tables[$0.key].isLedgered }
    }

    /// Asks the stream, as the principal's pull with this cursor would.
    mutating func checkConflicts() async throws -> PushEvent {
        let places = checked
        let subjects = places.mapValues { places in
            places.map { place in
                let operation = plan.operations[place]
                return ConflictCheck.Subject(id: operation.id, isDeletion: operation.kind == .delete)
            }
        }
        // Without a row there is nothing to go on from, and nothing to ask.
        guard let row else { return try await outdated(.unknownCursor) }
        let tables = Set(places.keys)
        let outcome = try await services.streaming(identity, from: row.cursor) {
            var runner = checkRunner(tables, row)
            return try await runner.check(subjects)
        }
        switch outcome {
        case .outdated(let reason): return try await outdated(reason)
        case .compared(let comparison):
            if tells(tables, row) { keepRows(comparison, places) }
            return conflicts(comparison.findings, places)
        }
    }

    private mutating func outdated(_ reason: PullRestart) async throws -> PushEvent {
        try await admit()
        logger.notice("a push has to wait for a pull", metadata: ["because": "\(reason.rawValue)"])
        return .refused(PushRefusal(kind: .outdated, records: []))
    }

    private mutating func conflicts(
        _ findings: [Int: [ConflictCheck.Finding]], _ places: [Int: [Int]]
    ) -> PushEvent {
        var records: [PushRefusal.Record] = []
        for (table, places) in places.sorted(by: { $0.key < $1.key }) {
            for (place, finding) in zip(places, findings[table] ?? []) {
                switch finding {
                case .none: break
                case .unreadable: figures.unseen += 1
                case .changed, .appeared, .deleted:
                    let message = "the record has \(finding == .appeared ? "" : "been ")\(finding.rawValue)"
                    records.append(record(plan.operations[place], message, place: place))
                }
            }
        }
        if figures.unseen > 0 {
            logger.warning(
                "records are pushed over changes that could not be read",
                metadata: ["code": "push.unseen_changes", "records": "\(figures.unseen)"])
        }
        return records.isEmpty ? .checked : .refused(PushRefusal(kind: .conflict, records: records))
    }

    /// Whether rows that were compared have no more in them than the client's version of the app may see.
    private func tells(_ tables: Set<Int>, _ row: CursorRow) -> Bool {
        let schema = services.configuration.schema
        let own = request.schemaVersion ?? row.schemaVersion ?? schema.version
        return version(tables.map { schema.tables[$0] }, row) <= own
    }

    /// Keeps what the backend has of the records that the 409 is about to name.
    private mutating func keepRows(_ comparison: PullRunner.Comparison, _ places: [Int: [Int]]) {
        for (table, places) in places.sorted(by: { $0.key < $1.key }) {
            let rows = comparison.rows[table] ?? [:]
            for (index, place) in places.enumerated() {
                let key = reader.key(of: plan.operations[place])
                if let row = rows[index] {
                    present.append(PresentRecord(table: key.table, id: key.id, json: row))
                } else if comparison.findings[table]?[index] == .deleted, present.count < Self.shownRecords {
                    present.append(PresentRecord(table: key.table, id: key.id, json: nil))
                }
            }
        }
    }

    /// A pull with the cursor of the push, for the tables alone.
    private func checkRunner(_ tables: Set<Int>, _ row: CursorRow) -> PullRunner {
        let schema = services.configuration.schema
        let version = version(tables.map { schema.tables[$0] }, row)
        let digests = services.mappings.digests(at: version)
        let query = PullQuery(
            principal: identity.principal, session: identity.session, presented: row.cursor, isFirst: false,
            schemaVersion: request.schemaVersion, schema: schema, effectiveVersion: version,
            mappingDigest: digests.all, tableDigests: digests.tables, newReplica: row.replica
        ).checking(Set(tables.map { schema.tables[$0].name }))
        return PullRunner(
            services: services, query: query, identity: identity,
            projection: services.projections.projection(at: version), logger: logger)
    }

    /// The schema version of the client's last pull: a push seldom tells it, and under another one other types would be
    /// asked for, and rows look changed that are not.
    ///
    /// Of those that it may be the one whose types the cursor has been streamed with.
    private func version(_ tables: [Table], _ row: CursorRow) -> Int {
        let newest = services.configuration.schema.version
        let candidates = [request.schemaVersion, row.schemaVersion, newest].compactMap { $0.map { min($0, newest) } }
        func known(_ version: Int) -> Int {
            tables.reduce(0) { $0 + $1.upsertTypes(at: version).count { row.vector[$0] != nil } }
        }
        var best = candidates[0]
        for candidate in candidates where known(candidate) > known(best) { best = candidate }
        return best
    }

    /// What the operator hears of conflicts, whoever has found them.
    mutating func count(_ refusal: PushRefusal) {
        guard refusal.kind == .conflict else { return }
        for record in refusal.records { figures.conflicts[record.table, default: 0] += 1 }
    }
}
