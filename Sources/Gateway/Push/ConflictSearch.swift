// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Ledger
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Finds out from the stream if the pushed records were changed elsewhere, as a pull with this cursor would.
struct ConflictSearch {
    /// A 409 adds no further deleted records once it describes this many.
    private static let shownRecords = 128

    /// The result of the search.
    enum Outcome {
        /// The device has to pull first.
        case outdated(FullStreamReason)
        /// The records in conflict, the backend's present state of some of them, and the number of unreadable changes.
        case compared(conflicts: [PushRefusal.Record], present: [PresentRecord], unreadable: Int)
    }

    let scope: PushScope
    let row: CursorRow

    /// Returns the indices of the operations whose conflicts are searched for in the stream, by the table's index.
    static func indices(in scope: PushScope) -> [Int: [Int]] {
        let operations = scope.plan.operations
        return Dictionary(grouping: operations.indices) { operations[$0].table }.filter { table, _ in
            scope.schema.tables[table].conflicts == .stream && scope.schema.tables[table].isLedgered
        }
    }

    func run() async throws -> Outcome {
        let indices = Self.indices(in: scope)
        let subjects = indices.mapValues { indices in
            indices.map { index in
                let operation = scope.plan.operations[index]
                return ConflictCheck.Subject(id: operation.id, isDeletion: operation.kind == .delete)
            }
        }
        let outcome = try await scope.services.streaming(scope.identity, from: row.cursor) {
            var runner = checkRunner(Set(indices.keys))
            return try await runner.check(subjects)
        }
        switch outcome {
        case .outdated(let reason): return .outdated(reason)
        case .compared(let comparison):
            let (conflicts, unreadable) = conflicts(comparison.findings, indices)
            return .compared(
                conflicts: conflicts, present: mayShow(Set(indices.keys)) ? present(comparison, indices) : [],
                unreadable: unreadable)
        }
    }

    private func conflicts(
        _ findings: [Int: [ConflictCheck.Finding]], _ indices: [Int: [Int]]
    ) -> (records: [PushRefusal.Record], unreadable: Int) {
        var records: [PushRefusal.Record] = []
        var unreadable = 0
        for (table, indices) in indices.sorted(by: { $0.key < $1.key }) {
            for (index, finding) in zip(indices, findings[table] ?? []) {
                switch finding {
                case .none: break
                case .unreadable: unreadable += 1
                case .changed, .appeared, .deleted:
                    let message = "the record has \(finding == .appeared ? "" : "been ")\(finding.rawValue)"
                    records.append(scope.record(at: index, message))
                }
            }
        }
        return (records, unreadable)
    }

    /// Returns true if the compared rows contain nothing that the client's version of the app may not see.
    private func mayShow(_ tables: Set<Int>) -> Bool {
        let own = scope.request.schemaVersion ?? row.schemaVersion ?? scope.schema.version
        return version(tables.map { scope.schema.tables[$0] }) <= own
    }

    /// Returns the backend's present state of the records that the 409 names.
    private func present(_ comparison: CheckRunner.Comparison, _ indices: [Int: [Int]]) -> [PresentRecord] {
        var present: [PresentRecord] = []
        for (table, indices) in indices.sorted(by: { $0.key < $1.key }) {
            let rows = comparison.rows[table] ?? [:]
            for (subject, index) in indices.enumerated() {
                let key = scope.key(at: index)
                if let row = rows[subject] {
                    present.append(PresentRecord(table: key.table, id: key.id, json: row))
                } else if comparison.findings[table]?[subject] == .deleted, present.count < Self.shownRecords {
                    present.append(PresentRecord(table: key.table, id: key.id, json: nil))
                }
            }
        }
        return present
    }

    /// Returns a runner of a pull with the push's cursor, for these tables only.
    private func checkRunner(_ tables: Set<Int>) -> CheckRunner {
        let (services, schema, identity) = (scope.services, scope.schema, scope.identity)
        let version = version(tables.map { schema.tables[$0] })
        var query = services.queries.value(at: version).checking(Set(tables.map { schema.tables[$0].name }))
        (query.principal, query.session, query.presented) = (identity.principal, identity.session, row.cursor)
        (query.isFirst, query.schemaVersion, query.newReplica) = (false, scope.request.schemaVersion, row.replica)
        query.distrustsPosition = LeaseKeeper.current?.distrustsPosition ?? false
        return CheckRunner(
            PullScope(
                services: services, query: query, identity: identity,
                projection: services.projections.value(at: version), logger: scope.logger))
    }

    /// Returns the schema version of the client's last pull.
    ///
    /// A push seldom states it, and with another version the stream would have other types, so that unchanged rows
    /// would look changed.
    ///
    /// Of the possible versions, the one whose types the cursor has been streamed with is taken.
    private func version(_ tables: [Table]) -> Int {
        let (oldest, newest) = (tables.map(\.since).max() ?? 0, scope.schema.version)
        // A client that pushes a table has it, whatever the version at its cursor was.
        let candidates = [scope.request.schemaVersion, row.schemaVersion, newest].compactMap {
            $0.map { min($0, newest) }
        }.filter { $0 >= oldest }
        func known(_ version: Int) -> Int {
            tables.reduce(0) { $0 + $1.upsertTypes(at: version).count { row.vector[$0] != nil } }
        }
        var best = candidates.first ?? newest
        for candidate in candidates where known(candidate) > known(best) { best = candidate }
        return best
    }
}
