// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import JSONBytes
import Logging
import StateStore
import SyncEngine
import SyncModel

// Ids that the backend makes.
extension PushRunner {
    /// Loads what is known of the pushed ids, before anything is sent.
    ///
    /// Whatever the configuration says by now: who has mappings has devices that know records by them.
    mutating func loadIDs(_ outline: LedgerOutline?) async throws {
        let schema = services.configuration.schema
        var ids = PushedIDs(
            schema: schema, known: try await services.ids.newest(of: identity.principal),
            maximum: services.configuration.push.maxIDs)
        if services.backend.settings.streamPush != nil {
            ids.inOneRequest = Set(
                plan.operations.filter { $0.kind != .delete }.map { PushReference(table: $0.table, id: $0.id) })
        }
        if let outline, services.pullSettings.comparisons != nil { ids.held = try await held(outline, ids) }
        ids.unmade = unmade(ids)
        reader.ids = ids
        guard ids.isFull else { return }
        logger.error(
            "a person has so many records with ids of the backend that no more are made",
            metadata: [
                "code": "push.too_many_ids", "limit": "\(services.configuration.push.maxIDs)",
                "hint": "[push] max_ids",
            ])
    }

    /// The records that the backend has not made yet, in tables whose ids it makes: nobody can refer to them.
    private func unmade(_ ids: PushedIDs) -> Set<PushReference> {
        let tables = services.configuration.schema.tables
        var unmade: Set<PushReference> = []
        for operation in plan.operations where operation.kind != .delete && tables[operation.table].makesIDs {
            switch ids.treatment(of: operation) {
            case .send(.create), .refuse: unmade.insert(PushReference(table: operation.table, id: operation.id))
            case .send, .nothing: break
            }
        }
        for (key, kind) in setAside where kind == .create {
            guard let place = tables.firstIndex(where: { $0.name == key.table }), tables[place].makesIDs else {
                continue
            }
            unmade.insert(PushReference(table: place, id: key.id))
        }
        return unmade
    }

    /// The records that the client calls new and that the ledger of its device has under these ids.
    private func held(_ outline: LedgerOutline, _ ids: PushedIDs) async throws -> Set<PushReference> {
        let schema = services.configuration.schema
        let holdings = LedgerHoldings(store: services.store, schema: schema, key: services.hashKey)
        var held: Set<PushReference> = []
        let created = plan.operations.filter { $0.kind == .create }
        for (place, operations) in Dictionary(grouping: created, by: \.table) where schema.tables[place].makesIDs {
            let table = schema.tables[place]
            let new = operations.map(\.id).filter { id in
                ids.backendID(of: PushReference(table: place, id: id)) == nil
                    && (table.idType == .text || PushedIDs.isInteger(id))
            }
            do {
                for id in try await holdings.held(Set(new), of: table, in: outline) {
                    held.insert(PushReference(table: place, id: id))
                }
            } catch let error as LedgerError {
                // The next pull gets everything and another ledger.
                logger.error("a ledger is damaged", metadata: ["code": "\(error.rawValue)"])
            }
        }
        return held
    }

    /// Writes mappings down.
    mutating func learn(_ mappings: [IDMapping]) async throws {
        guard !mappings.isEmpty else { return }
        _ = try await services.store.saveMappings(mappings, principal: identity.principal, at: services.clock.now)
    }

    /// What a stream push has taught, by the operations that were sent, line by line.
    mutating func learn(_ lines: [StreamPushLine], _ operations: [PushOperation]) async throws {
        guard reader.ids.translates else { return }
        var returned: [Int: String] = [:]
        for line in lines { returned[line.line] = line.id }
        let (mappings, unfit) = reader.learn(returned, operations)
        if let error = unfit.first {
            logger.error(
                "records are created under ids that cannot be kept",
                metadata: ["code": "push.unkept_id", "records": "\(unfit.count)", "error": "\(error)"])
        }
        try await learn(mappings)
    }

    /// The operations of these that are sent in one request, and why others can never be.
    func sendable(_ places: [Int]) throws -> (places: [Int], refused: [PushRefusal.Record]) {
        guard reader.ids.translates else { return (places, []) }
        var (sent, refused) = ([Int](), [PushRefusal.Record]())
        for place in places {
            switch try reader.content(of: plan.operations[place]).treatment {
            case .send: sent.append(place)
            case .nothing: break
            case .refuse(let message): refused.append(record(plan.operations[place], message, place: place))
            }
        }
        return (sent, refused)
    }
}
