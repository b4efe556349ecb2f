// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Ledger
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Asks the stream whether somebody else has changed what is pushed, as the principal's pull with this cursor would.
struct ConflictSearch {
    /// How many records a 409 tells more of than the id, at the most.
    private static let shownRecords = 128

    /// What the stream has told.
    enum Outcome {
        /// The device has to pull first.
        case outdated(PullRestart)
        /// These records are in conflict; of some the backend has this. How many changes could not be read.
        case compared(conflicts: [PushRefusal.Record], present: [PresentRecord], unreadable: Int)
    }

    let scope: PushScope
    let row: CursorRow

    /// The operations of tables whose conflicts are looked for in the stream, by the table's place.
    static func places(in scope: PushScope) -> [Int: [Int]] {
        let operations = scope.plan.operations
        return Dictionary(grouping: operations.indices) { operations[$0].table }.filter { table, _ in
            scope.schema.tables[table].conflicts == .stream && scope.schema.tables[table].isLedgered
        }
    }

    func run() async throws -> Outcome {
        let places = Self.places(in: scope)
        let subjects = places.mapValues { places in
            places.map { place in
                let operation = scope.plan.operations[place]
                return ConflictCheck.Subject(id: operation.id, isDeletion: operation.kind == .delete)
            }
        }
        let outcome = try await scope.services.streaming(scope.identity, from: row.cursor) {
            var runner = checkRunner(Set(places.keys))
            return try await runner.check(subjects)
        }
        switch outcome {
        case .outdated(let reason): return .outdated(reason)
        case .compared(let comparison):
            let (conflicts, unreadable) = conflicts(comparison.findings, places)
            return .compared(
                conflicts: conflicts, present: mayTell(Set(places.keys)) ? present(comparison, places) : [],
                unreadable: unreadable)
        }
    }

    private func conflicts(
        _ findings: [Int: [ConflictCheck.Finding]], _ places: [Int: [Int]]
    ) -> (records: [PushRefusal.Record], unreadable: Int) {
        var records: [PushRefusal.Record] = []
        var unreadable = 0
        for (table, places) in places.sorted(by: { $0.key < $1.key }) {
            for (place, finding) in zip(places, findings[table] ?? []) {
                switch finding {
                case .none: break
                case .unreadable: unreadable += 1
                case .changed, .appeared, .deleted:
                    let message = "the record has \(finding == .appeared ? "" : "been ")\(finding.rawValue)"
                    records.append(scope.record(at: place, message))
                }
            }
        }
        return (records, unreadable)
    }

    /// Whether rows that were compared have no more in them than the client's version of the app may see.
    private func mayTell(_ tables: Set<Int>) -> Bool {
        let own = scope.request.schemaVersion ?? row.schemaVersion ?? scope.schema.version
        return version(tables.map { scope.schema.tables[$0] }) <= own
    }

    /// What the backend has of the records that the 409 is about to name.
    private func present(_ comparison: CheckRunner.Comparison, _ places: [Int: [Int]]) -> [PresentRecord] {
        var present: [PresentRecord] = []
        for (table, places) in places.sorted(by: { $0.key < $1.key }) {
            let rows = comparison.rows[table] ?? [:]
            for (index, place) in places.enumerated() {
                let key = scope.key(at: place)
                if let row = rows[index] {
                    present.append(PresentRecord(table: key.table, id: key.id, json: row))
                } else if comparison.findings[table]?[index] == .deleted, present.count < Self.shownRecords {
                    present.append(PresentRecord(table: key.table, id: key.id, json: nil))
                }
            }
        }
        return present
    }

    /// A pull with the cursor of the push, for the tables alone.
    private func checkRunner(_ tables: Set<Int>) -> CheckRunner {
        let (services, schema, identity) = (scope.services, scope.schema, scope.identity)
        let version = version(tables.map { schema.tables[$0] })
        let digests = services.mappings.digests(at: version)
        let query = PullQuery(
            principal: identity.principal, session: identity.session, presented: row.cursor, isFirst: false,
            schemaVersion: scope.request.schemaVersion, schema: schema, effectiveVersion: version,
            mappingDigest: digests.all, tableDigests: digests.tables, newReplica: row.replica
        ).checking(Set(tables.map { schema.tables[$0].name }))
        return CheckRunner(
            PullScope(
                services: services, query: query, identity: identity,
                projection: services.projections.projection(at: version), logger: scope.logger))
    }

    /// The schema version of the client's last pull: a push seldom tells it, and under another one other types would be
    /// asked for, and rows look changed that are not.
    ///
    /// Of those that it may be the one whose types the cursor has been streamed with.
    private func version(_ tables: [Table]) -> Int {
        let newest = scope.schema.version
        let candidates = [scope.request.schemaVersion, row.schemaVersion, newest].compactMap {
            $0.map { min($0, newest) }
        }
        func known(_ version: Int) -> Int {
            tables.reduce(0) { $0 + $1.upsertTypes(at: version).count { row.vector[$0] != nil } }
        }
        var best = candidates[0]
        for candidate in candidates where known(candidate) > known(best) { best = candidate }
        return best
    }
}
