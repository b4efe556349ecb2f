// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import JSONBytes
import Logging
import StateStore
import SyncMachines
import SyncModel

// Searching the stream (finding 20).
extension PushRecovery {
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
            return CreationSearch.Mark.Value(path: path, value: member.value)
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

    /// Searches for records in everything since the push's cursor, or in a full stream if the stream cannot go on from
    /// there.
    ///
    /// - Throws: The error that keeps the journal open: `PullFailure.typesRefused` while the backend refuses the request
    ///   type of a record that was not found. If it keeps refusing it, the record counts as not found.
    func search(_ inFlight: [InFlightOperation], _ journal: PushJournal) async throws -> [Int: String] {
        let configuration = services.configuration
        let search = CreationSearch(
            inFlight.compactMap(subject), schema: configuration.schema, rules: configuration.envelopeRules)
        let tables = Set(inFlight.map(\.record.table))
        var done: (search: CreationSearch, refused: Set<String>)?
        if let presented = journal.presented {
            done = try await services.streaming(identity, from: presented) {
                var runner = runner(tables, presented)
                return try await runner.look(for: search)
            }
        }
        if done == nil {
            done = try await services.streaming(identity, from: nil) {
                var runner = runner(tables, nil)
                return try await runner.look(for: search)
            }
        }
        guard let done else { throw PullFailure.streamBroken }
        var taken: [Int: Set<String>] = [:]
        for (table, ids) in done.search.guesses {
            taken[table] = try await services.store.mappedIDs(
                ids, in: configuration.schema.tables[table].name, of: identity.principal)
        }
        let found = done.search.found(taken: taken)
        try await giveUpUnsearchable(inFlight.filter { found[$0.index] == nil }, journal, refused: done.refused)
        return found
    }

    /// Gives up the records whose request types the backend has refused for so long that the principal's other syncs
    /// take precedence.
    private func giveUpUnsearchable(
        _ missing: [InFlightOperation], _ journal: PushJournal, refused: Set<String>
    ) async throws {
        let schema = services.configuration.schema
        let unsearchable = missing.filter { operation in
            schema.table(named: operation.record.table)?.feeds
                .contains { $0.versions.contains { refused.contains($0.requestType) } } ?? false
        }
        for operation in unsearchable {
            guard try await isPatienceOver(with: operation, journal) else {
                logger.warning(
                    "an interrupted push cannot be resolved yet: the backend refuses a request type",
                    metadata: [
                        "journal": "\(journal.id)", "code": "\(PullFailure.typesRefused.rawValue)",
                        "types": "\(refused.sorted().joined(separator: " "))",
                    ])
                throw PullFailure.typesRefused
            }
        }
        for operation in unsearchable { try await services.store.giveUp(operation.index, of: journal.id) }
    }

    /// Returns a runner of a pull for these tables only, whose lines are only searched.
    private func runner(_ tables: Set<String>, _ presented: Cursor?) -> CheckRunner {
        let version = services.versions.last ?? services.configuration.schema.version
        let digests = services.mappings.digests(at: version)
        var random = services.random
        let query = PullQuery(
            principal: identity.principal, session: identity.session, presented: presented, schemaVersion: nil,
            schema: services.configuration.schema, effectiveVersion: version, mappingDigest: digests.all,
            tableDigests: digests.tables, newReplica: .random(using: &random)
        ).checking(tables)
        return CheckRunner(
            PullScope(
                services: services, query: query, identity: identity,
                projection: services.projections.projection(at: version), logger: logger))
    }
}
