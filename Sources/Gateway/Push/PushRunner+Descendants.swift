// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

// What goes with deleted records, and which of them goes first: the ledger of the device that pushes knows.
extension PushRunner {
    /// How many notes are laid over the ledger.
    private static let maximumNotes = 50_000
    /// How often the ledger is read anew because a pull has changed it meanwhile.
    private static let attempts = 3

    /// What a deletion means for other records.
    private struct Consequences {
        var added: [Int: [String]] = [:]
        var references: [PushReference: [PushReference]] = [:]
    }

    /// Adds the deletions of descendants where the gateway has to (`cascade = gateway`), and puts deletions into the
    /// order of their records.
    mutating func followDeletions() async throws {
        let schema = services.configuration.schema
        let cascades = DescendantSearch.isNeeded(for: plan.operations, in: schema)
        guard cascades || DeletionReferences.areNeeded(for: plan.operations, in: schema) else { return }
        guard services.pullSettings.comparisons != nil, !isRetry else { return }
        let known = try await consequences(cascades: cascades)
        guard let known else {
            guard cascades else { return }
            logger.warning(
                "what hangs on deleted records is not known: the backend is left to deal with it",
                metadata: ["code": "push.cascade_unknown", "told": "\(request.lastPulledAt != nil)"])
            return
        }
        let reader = reader
        plan = PushPlan(changes: changes(adding: known.added), schema: schema) { operation in
            guard operation.kind == .delete else { return reader.references(of: operation) }
            return known.references[PushReference(table: operation.table, id: operation.id)] ?? []
        }
        figures.descendants = known.added.values.reduce(0) { $0 + $1.count }
        figures.deletions += figures.descendants
    }

    /// Nil where the cursor does not tell whose ledger it is, or that is not exact.
    private mutating func consequences(cascades: Bool) async throws -> Consequences? {
        let store = services.store
        for _ in 0..<Self.attempts {
            guard let presented else { return nil }
            let context = try await store.pullContext(
                principal: identity.principal, session: identity.session, presented: presented)
            guard let row = context.row, let outline = context.ledger, outline.base != nil || !outline.deltas.isEmpty,
                outline.isExact
            else { return nil }
            let notes = try await store.pushNotes(of: identity.principal, after: row.noted, limit: Self.maximumNotes)
            let held = HeldRecords(
                schema: services.configuration.schema, source: StoreLedgerSource(store: store),
                layers: outline.layers, notes: notes, key: services.hashKey)
            var found: Consequences?
            do {
                found = try await consequences(held, cascades: cascades)
            } catch let error as LedgerError {
                logger.error(
                    "a ledger is damaged: what hangs on deleted records is not known",
                    metadata: ["code": "\(error.rawValue)", "replica": "\(row.replica)"])
            } catch DescendantSearch.Failure.tooMany {
                try await admit()
                throw tooManyDescendants
            }
            // Another pull may have compacted it under this push.
            guard try await store.ledger(of: outline.replica).map({ outline.isCurrent($0) }) == true else { continue }
            guard let found else {
                try await admit()
                // The next pull gets everything and another ledger.
                throw refused(PushRefusal(kind: .outdated, records: []), applied: 0)
            }
            return found
        }
        throw StateError.ledgerChanged
    }

    private func consequences(_ held: HeldRecords, cascades: Bool) async throws -> Consequences {
        var consequences = Consequences()
        if cascades {
            var search = DescendantSearch(held)
            consequences.added = try await search.run(plan.operations)
        }
        var deleted = consequences.added
        for operation in plan.operations where operation.kind == .delete {
            deleted[operation.table, default: []].append(operation.id)
        }
        consequences.references = try await DeletionReferences(held).find(deleted)
        return consequences
    }

    private func changes(adding added: [Int: [String]]) -> [PushedTable] {
        var changes = request.changes.tables
        for (place, ids) in added.sorted(by: { $0.key < $1.key }) {
            let name = services.configuration.schema.tables[place].name
            if let index = changes.firstIndex(where: { $0.name == name }) {
                changes[index].deleted += ids
            } else {
                changes.append(PushedTable(name: name, deleted: ids))
            }
        }
        return changes
    }

    private var tooManyDescendants: GatewayError {
        GatewayError(
            status: 413, code: "push.too_many_descendants",
            message: "This deletes too much at once. Please contact support.",
            cause: "more than \(DescendantSearch.maximum) records hang on what the push deletes", figures: figures)
    }
}
