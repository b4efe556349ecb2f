// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel

// By which ids the device knows records to which the backend has given ids (design §4, finding 21).
extension PullRunner {
    private static let page = 10_000

    /// Loads the principal's ids, and settles what the device goes on calling by the backend's.
    ///
    /// - Returns: False where nobody can tell, so that everything has to be compared.
    mutating func loadIDs(upTo sequence: Int64) async throws -> Bool {
        guard let known = try await services.ids.ids(of: query.principal, upTo: sequence) else {
            ids = IDSight()
            return true
        }
        knownIDs = known
        ids = IDSight(sequence: known.sequence, kept: presentedRow?.ids.kept ?? [])
        var isCertain = true
        if services.pullSettings.sweeps != nil, let row = presentedRow, let outline {
            do {
                ids.kept.formUnion(try await held(outline, after: row.ids.sequence, upTo: known.sequence))
            } catch is LedgerError {
                isCertain = false
            }
        }
        if ids.kept.count > IDSight.maximumKept {
            logger.notice(
                "a device knows too many records by the backend's ids: it gets them anew, under those of the clients",
                metadata: ["code": "pull.too_many_kept", "records": "\(ids.kept.count)"])
            ids.kept = []
            isCertain = false
        }
        aliases =
            known.aliases.count == 0
            ? nil : IDAliases(known.aliases, keeping: ids.kept, schema: services.configuration.schema)
        spooler = services.makeSpooler(projection, aliases: aliases)
        return isCertain
    }

    /// The records with new mappings that the device had got before, under the backend's ids.
    private func held(
        _ outline: LedgerOutline, after first: Int64, upTo last: Int64
    ) async throws -> Set<IDSight.Kept> {
        let schema = services.configuration.schema
        let holdings = LedgerHoldings(store: services.store, schema: schema, key: services.hashKey)
        var kept: Set<IDSight.Kept> = []
        var sequence = first
        while sequence < last {
            let stored = try await services.store.idMappings(of: query.principal, after: sequence, limit: Self.page)
            let new = stored.filter { $0.isPublic && $0.sequence <= last }
            for (name, mappings) in Dictionary(grouping: new, by: \.mapping.table) {
                guard let table = schema.table(named: name) else { continue }
                let held = try await holdings.held(Set(mappings.map(\.mapping.backendID)), of: table, in: outline)
                for id in held { kept.insert(IDSight.Kept(table: name, id: id)) }
            }
            guard stored.count == Self.page, let next = stored.last?.sequence else { break }
            sequence = next
        }
        return kept
    }

    /// Takes away what the device has twice: records that it is owed because pulls call them by another id.
    mutating func deleteDoublets() throws {
        guard let knownIDs, !debts.isEmpty else { return }
        for (place, table) in services.configuration.schema.tables.enumerated() {
            for debt in debts where debt.table == table.name {
                guard knownIDs.isHidden(debt.id, table: place, name: table.name, keeping: ids.kept) else { continue }
                try spooler.delete(debt.id, table: place)
            }
        }
    }

    /// What the device knows with a new cursor: with a repeated answer what it knew with the first one.
    var newIDs: IDSight { layer == nil ? kept?.kept.ids ?? ids : ids }

    /// Takes over what the stream has told about ids, and waits until none is being made for the principal, so that the
    /// commit sees all that the stream may have brought.
    ///
    /// Where something is new the commit fails, and the pull begins anew with it: the stream may have brought the record
    /// before the line.
    func settleIDs() async throws {
        guard services.makesIDs else { return }
        let limit = services.configuration.limits.queueWait
        guard try await services.making.waitUntilNone(of: query.principal, atMost: limit) else {
            // To begin anew would be to wait as long once more.
            throw LockError.timedOut
        }
        // A push has ended meanwhile of which nobody knows whether it has made a record.
        let open = try await services.store.openJournals(of: query.principal)
        guard !open.contains(where: { $0.flights.contains(where: \.makesID) }) else { throw StateError.idsChanged }
        guard !spooler.idMappings.isEmpty else { return }
        let makers = Set(services.configuration.schema.tables.filter(\.makesIDs).map(\.name))
        var told: [PushedRecordKey: IDMapping] = [:]
        for mapping in spooler.idMappings where makers.contains(mapping.table) {
            told[PushedRecordKey(table: mapping.table, id: mapping.clientID)] = mapping
        }
        // Only of what the caller has pushed: nobody else decides what its records are called.
        let believed = try await services.store.unmappedPushes(Array(told.values), of: query.principal)
        if spooler.counts.idMappings > spooler.idMappings.count {
            logger.warning(
                "more lines about ids came than are looked at in one pull",
                metadata: ["code": "pull.too_many_idmaps", "lines": "\(spooler.counts.idMappings)"])
        }
        guard !believed.isEmpty else { return }
        _ = try await services.store.saveMappings(believed, principal: query.principal, at: services.clock.now)
        logger.info("the stream has told ids of pushed records", metadata: ["records": "\(believed.count)"])
    }
}
