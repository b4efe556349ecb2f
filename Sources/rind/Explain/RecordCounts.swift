// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel

/// The number of records of each table on the devices of one principal, by the last counts in the state.
///
/// They see the same records, so that the device that was seen last tells the most about what another one will fetch.
struct RecordCounts {
    /// The number of replicas that are read at a time.
    private static let page = 1_000

    let principal: Principal
    /// The number of the principal's replicas.
    private(set) var replicas = 0
    private let schema: Schema
    private var versions: [Int: Int] = [:]
    private var latest: [String: (seenAt: Instant, records: Int)] = [:]

    /// Creates the counts of these replicas.
    init(of principal: Principal, schema: Schema, rows: [ReplicaRow] = []) {
        self.principal = principal
        self.schema = schema
        for row in rows { add(row) }
    }

    /// Counts what the state has of all of a principal's replicas.
    init(of principal: Principal, schema: Schema, store: Accounts) async throws {
        self.init(of: principal, schema: schema)
        var last: ReplicaID?
        repeat {
            let rows = try await store.inspection.replicas(of: principal, after: last, limit: Self.page)
            for row in rows where !row.isDamaged { add(row) }
            last = rows.count < Self.page ? nil : rows.last?.id
        } while last != nil
    }

    /// Returns the number of replicas that have synced last with a schema version.
    func replicas(at version: Int) -> Int { versions[version] ?? 0 }

    /// Returns the known number of records of a table; nil if no device has the table, or its records are not counted.
    subscript(table: Table) -> Int? { table.isLedgered ? latest[table.name]?.records : nil }

    private mutating func add(_ row: ReplicaRow) {
        replicas += 1
        if let version = row.schemaVersion { versions[version, default: 0] += 1 }
        for table in schema.tables {
            guard let records = Self.records(of: table, on: row, schema) else { continue }
            if let known = latest[table.name], known.seenAt >= row.lastSeen { continue }
            latest[table.name] = (row.lastSeen, records)
        }
    }

    /// Returns 0 for a table without a count if all its types have been compared; nil, for unknown, otherwise.
    private static func records(of table: Table, on row: ReplicaRow, _ schema: Schema) -> Int? {
        if let count = row.ledger[table.name] { return count.held }
        let version = row.schemaVersion ?? schema.version
        let types = table.feeds.compactMap { $0.version(at: version)?.requestType }
        let isCompared = !types.isEmpty && types.allSatisfy { row.comparisons[$0]?.isTracked ?? false }
        return table.since <= version && isCompared ? 0 : nil
    }
}
