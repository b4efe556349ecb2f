// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// How many records of each table the devices of one principal hold, by the last counts in the state.
///
/// They see the same records, so that the device that was seen last tells the most about what another one will fetch.
struct RecordCounts {
    /// How many replicas are read at a time.
    private static let page = 1_000

    let principal: Principal
    /// How many replicas it has.
    private(set) var replicas = 0
    private let schema: Schema
    private var versions: [Int: Int] = [:]
    private var latest: [String: (seenAt: Int64, records: Int)] = [:]

    /// The counts of these replicas.
    init(of principal: Principal, schema: Schema, rows: [ReplicaRow] = []) {
        self.principal = principal
        self.schema = schema
        for row in rows { add(row) }
    }

    /// Counts what the state has of all of a principal's replicas.
    init(of principal: Principal, schema: Schema, store: some StateStore) async throws {
        self.init(of: principal, schema: schema)
        var last: ReplicaID?
        repeat {
            let rows = try await store.replicas(of: principal, after: last, limit: Self.page)
            for row in rows { add(row) }
            last = rows.count < Self.page ? nil : rows.last?.id
        } while last != nil
    }

    /// How many of the replicas have synced last with a schema version.
    func replicas(at version: Int) -> Int { versions[version] ?? 0 }

    /// How many records of a table there are, as far as anybody knows; nil where no device has it, or nobody counts.
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

    /// A table without a count is empty where all that brings it has been compared, and not known otherwise.
    private static func records(of table: Table, on row: ReplicaRow, _ schema: Schema) -> Int? {
        if let count = row.ledger[table.name] { return count.held }
        let version = row.schemaVersion ?? schema.version
        let types = table.feeds.compactMap { $0.version(at: version)?.requestType }
        let isCompared = !types.isEmpty && types.allSatisfy { row.comparisons[$0]?.isTracked ?? false }
        return table.since <= version && isCompared ? 0 : nil
    }
}
