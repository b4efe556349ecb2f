// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Ledger
import Logging
import StateStore
import SyncMachines
import SyncModel

extension PushedIDs {
    /// Loads what is known about the ids of a push before anything is sent, with its device's ledger if there is one.
    ///
    /// Mappings are loaded whatever the present configuration: the principal's devices know records by them.
    static func load(for scope: PushScope, outline: LedgerOutline?) async throws -> PushedIDs {
        let cache = scope.services.ids
        // A pull may save ids that the stream has told, at any time: where there are such, the newest are asked for.
        let known =
            if let context = scope.known, !scope.schema.tables.contains(where: \.makesIDs) {
                try await cache.ids(of: scope.principal, upTo: context.idSequence)
            } else {
                try await cache.newest(of: scope.principal)
            }
        var ids = PushedIDs(schema: scope.schema, known: known, maximum: scope.settings.maxIDs)
        if scope.services.backend.settings.streamPush != nil {
            ids.inOneRequest = Set(
                scope.plan.operations.filter { $0.kind != .delete }
                    .map { PushReference(table: $0.table, id: $0.id) })
        }
        if let outline, scope.services.pullSettings.keepsLedgers {
            ids.held = try await ids.held(by: outline, of: scope)
        }
        ids.unmade = ids.unmade(of: scope)
        if ids.isFull {
            scope.logger.error(
                "a user has too many records with ids made by the backend: no more are created",
                metadata: [
                    "code": "push.too_many_ids", "limit": "\(scope.settings.maxIDs)", "hint": "[push] max_ids",
                ])
        }
        return ids
    }

    /// Returns the records that the backend has yet to create, in tables whose ids it makes: no record can refer to
    /// them.
    private func unmade(of scope: PushScope) -> Set<PushReference> {
        let tables = scope.schema.tables
        var unmade: Set<PushReference> = []
        for operation in scope.plan.operations where operation.kind != .delete && tables[operation.table].makesIDs {
            switch treatment(of: operation) {
            case .send(.create), .refuse: unmade.insert(PushReference(table: operation.table, id: operation.id))
            case .send, .nothing: break
            }
        }
        for (key, kind) in scope.quarantined where kind == .create {
            guard let index = tables.firstIndex(where: { $0.name == key.table }), tables[index].makesIDs else {
                continue
            }
            unmade.insert(PushReference(table: index, id: key.id))
        }
        return unmade
    }

    /// Returns the records that the client lists as created although its device's ledger has them under these ids.
    private func held(by outline: LedgerOutline, of scope: PushScope) async throws -> Set<PushReference> {
        let schema = scope.schema
        let holdings = LedgerHoldings(store: scope.store, schema: schema, key: scope.services.hashKey)
        var held: Set<PushReference> = []
        let created = scope.plan.operations.filter { $0.kind == .create }
        for (index, operations) in Dictionary(grouping: created, by: \.table) where schema.tables[index].makesIDs {
            let table = schema.tables[index]
            let new = operations.map(\.id).filter { id in
                backendID(of: PushReference(table: index, id: id)) == nil
                    && (table.idType == .text || Self.isInteger(id))
            }
            do {
                for id in try await holdings.held(Set(new), of: table, in: outline) {
                    held.insert(PushReference(table: index, id: id))
                }
            } catch let error as LedgerError {
                // The next pull is a full stream and makes another ledger.
                scope.logger.error("a ledger is damaged", metadata: ["code": "\(error.rawValue)"])
            }
        }
        return held
    }
}
