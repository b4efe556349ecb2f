// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayConfig
import JSONBytes
import Logging
import StateStore
import SyncMachines
import SyncModel

// Searching the stream (finding 20).
extension PushRecoveryRunner {
    /// Returns the paths and values of a creation's `match` columns; nil if there are none.
    func sought(_ operationInFlight: InFlightOperation) -> [CreationSearch.Mark.Value]? {
        guard let bytes = operationInFlight.sought,
            let table = services.configuration.schema.table(named: operationInFlight.record.table),
            let values = try? JSONValue.parse(bytes)
        else { return nil }
        let parts = (values.members ?? []).compactMap { member -> CreationSearch.Mark.Value? in
            guard let column = table.columns.first(where: { $0.name == member.name }) else { return nil }
            // The path in the stream, which may differ from the one in requests.
            let paths = column.sources.compactMap { if case .path(let path, _) = $0 { path } else { nil } }
            guard let path = paths.first ?? column.outgoingPath else { return nil }
            return CreationSearch.Mark.Value(path: path, column: column, value: member.value)
        }
        return parts.isEmpty ? nil : parts
    }

    private func subject(_ operationInFlight: InFlightOperation) -> CreationSearch.Subject? {
        let tables = services.configuration.schema.tables
        guard let table = tables.firstIndex(where: { $0.name == operationInFlight.record.table }) else { return nil }
        var mark = sought(operationInFlight).map { CreationSearch.Mark.values($0) }
        if let path = creation(operationInFlight.record.table)?.reference { mark = .reference(path) }
        return mark.map {
            CreationSearch.Subject(
                index: operationInFlight.index, table: table, id: operationInFlight.record.id, mark: $0)
        }
    }

    /// Searches for records in everything since a cursor, or in a full stream.
    mutating func search(_ indices: [Int], from presented: Cursor?) async throws -> PushRecoveryEvent {
        let (configuration, inFlight) = (services.configuration, indices.compactMap { self.inFlight[$0] })
        var found: [Int: String] = [:]
        // A record that is edited meanwhile moves behind the end of the stream (finding 12).
        for _ in 1...2 where found.count < inFlight.count {
            let missing = inFlight.filter { found[$0.index] == nil }
            guard let more = try await look(for: missing, from: presented, beside: found) else { return .outOfReach }
            found.merge(more) { first, _ in first }
        }
        let refused = inFlight.filter { operation in
            configuration.schema.table(named: operation.record.table)?.feeds
                .contains { $0.versions.contains { refusedTypes.contains($0.requestType) } } ?? false
        }
        return .found(found, refused: Set(refused.map(\.index)))
    }

    /// Returns the ids of the records that one stream has, other than those that are known from an earlier one; nil if it
    /// cannot go on from the cursor.
    private mutating func look(
        for inFlight: [InFlightOperation], from presented: Cursor?, beside known: [Int: String]
    ) async throws -> [Int: String]? {
        let configuration = services.configuration
        let search = CreationSearch(
            inFlight.compactMap(subject), schema: configuration.schema, rules: configuration.envelopeRules)
        let tables = Set(inFlight.map(\.record.table))
        let done = try await services.streaming(identity, from: presented) {
            var runner = runner(tables, presented)
            return try await runner.look(for: search)
        }
        guard let done else { return nil }
        var taken: [Int: Set<String>] = [:]
        for (table, ids) in done.search.guesses {
            let name = configuration.schema.tables[table].name
            taken[table] = try await services.store.read(identity.principal) {
                try IDRules.mapped(ids, in: name, of: &$0)
            }.union(known.compactMap { self.inFlight[$0]?.record.table == name ? $1 : nil })
        }
        refusedTypes = done.refused
        return done.search.found(taken: taken)
    }

    /// Returns a runner of a pull for these tables only, whose lines are only searched.
    private func runner(_ tables: Set<String>, _ presented: Cursor?) -> CheckRunner {
        let version = services.versions.last ?? services.configuration.schema.version
        var random = services.random
        var query = services.queries.value(at: version).checking(tables)
        (query.principal, query.session, query.presented) = (identity.principal, identity.session, presented)
        (query.isFirst, query.newReplica) = (presented == nil, .random(using: &random))
        query.distrustsPosition = LeaseKeeper.current?.distrustsPosition ?? false
        return CheckRunner(
            PullScope(
                services: services, query: query, identity: identity,
                projection: services.projections.value(at: version), logger: logger))
    }
}
