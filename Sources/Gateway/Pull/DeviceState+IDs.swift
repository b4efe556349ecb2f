// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import GatewayConfig
import Ledger
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel

// The ids by which the device knows records that have backend-assigned ids (finding 21).
extension DeviceState {
    private static let page = 10_000

    /// Loads the principal's ids, and finds out which records the device still knows by the backend's ids.
    ///
    /// - Returns: False if that is unknown, so that everything has to be compared.
    mutating func loadIDs(upTo sequence: Int64) async throws -> Bool {
        guard let known = try await scope.services.ids.ids(of: scope.query.principal, upTo: sequence) else {
            ids = VisibleIDs()
            return true
        }
        knownIDs = known
        ids = VisibleIDs(sequence: known.sequence, kept: row?.ids.kept ?? [])
        var isCertain = true
        var news = News()
        if scope.query.presented != nil {
            do {
                news = try await self.news(after: row?.ids.sequence ?? 0, upTo: known.sequence)
                if !news.isEmpty { ids.kept = try await stillHeld(ids.kept) }
            } catch is LedgerError {
                isCertain = false
            }
        }
        duplicates = news.hidden
        ids.kept.formUnion(news.held.keys)
        if ids.kept.count > VisibleIDs.maximumKept {
            scope.logger.notice(
                "a device knows too many records by the backend's ids: it gets them again, under the clients' ids",
                metadata: ["code": "pull.too_many_kept", "records": "\(ids.kept.count)"])
            duplicates += ids.kept
            ids.kept = []
            isCertain = false
        } else {
            duplicates += news.held.map { VisibleIDs.Entry(table: $0.table, id: $1) }
        }
        aliases =
            known.aliases.count == 0
            ? nil : IDAliases(known.aliases, keeping: ids.kept, schema: scope.schema)
        return isCertain
    }

    /// The consequences for a device of mappings that it does not know yet.
    private struct News {
        /// The clients' ids that pulls never use.
        var hidden: [VisibleIDs.Entry] = []
        /// The records that the device has got under the backend's ids, each with the client's id.
        var held: [VisibleIDs.Entry: String] = [:]

        var isEmpty: Bool { hidden.isEmpty && held.isEmpty }
    }

    /// Returns those of the records known by the backend's ids that the device still has.
    private func stillHeld(_ kept: Set<VisibleIDs.Entry>) async throws -> Set<VisibleIDs.Entry> {
        guard let outline, scope.keepsLedgers else { return kept }
        let schema = scope.schema
        let holdings = LedgerHoldings(store: scope.store, schema: schema, key: scope.services.hashKey)
        var held: Set<VisibleIDs.Entry> = []
        for (name, records) in Dictionary(grouping: kept, by: \.table) {
            guard let table = schema.table(named: name) else { continue }
            for id in try await holdings.held(records.map(\.id), of: table, in: outline) {
                held.insert(VisibleIDs.Entry(table: name, id: id))
            }
        }
        return held
    }

    /// Searches the mappings that were added since the presented cursor.
    private func news(after first: Int64, upTo last: Int64) async throws -> News {
        let schema = scope.schema
        let holdings = LedgerHoldings(store: scope.store, schema: schema, key: scope.services.hashKey)
        let ledger = scope.keepsLedgers && row != nil ? outline : nil
        var news = News()
        var sequence = first
        while sequence < last {
            let stored = try await scope.read { try IDRules.mappings(after: sequence, limit: Self.page, of: &$0) }
            let new = stored.filter { $0.sequence <= last }
            for (name, mappings) in Dictionary(grouping: new, by: \.mapping.table) {
                guard let table = schema.table(named: name) else { continue }
                news.hidden += mappings.filter { !$0.isPublic }
                    .map { VisibleIDs.Entry(table: name, id: $0.mapping.clientID) }
                guard let ledger else { continue }
                let clients = Dictionary(
                    mappings.filter(\.isPublic).map { ($0.mapping.backendID, $0.mapping.clientID) }
                ) { $1 }
                for id in try await holdings.held(clients.keys, of: table, in: ledger) {
                    news.held[VisibleIDs.Entry(table: name, id: id)] = clients[id]
                }
            }
            guard stored.count == Self.page, let next = stored.last?.sequence else { break }
            sequence = next
        }
        return news
    }

    /// Deletes the duplicates on the device: records that it has created and that pulls list under another id.
    ///
    /// This is done once, by each cursor that is the first to know the mapping, and again if a redelivery of the record
    /// is pending. Devices without duplicates get no deletions.
    func deleteDuplicates(from spooler: inout StreamSpooler) throws {
        guard let knownIDs else { return }
        for (index, table) in scope.schema.tables.enumerated() {
            for duplicate in duplicates where duplicate.table == table.name {
                try spooler.delete(duplicate.id, table: index)
            }
            for redelivery in redeliveries where redelivery.table == table.name {
                guard knownIDs.isHidden(redelivery.id, table: index, name: table.name, keeping: ids.kept) else {
                    continue
                }
                try spooler.delete(redelivery.id, table: index)
            }
        }
    }

    /// Waits until no ids are being made for the principal, and saves the ids that the stream has reported, so that the
    /// commit sees all ids that the stream may contain.
    ///
    /// The commit finds out if there are new ones: then it fails with `StateError.idsChanged`.
    func awaitIDs(after spooler: StreamSpooler) async throws -> PullEvent {
        let limit = scope.services.configuration.limits.queueWait
        guard try await scope.services.making.waitUntilNone(of: scope.query.principal, atMost: limit) else {
            return .idsUnknown
        }
        guard scope.schema.tables.contains(where: \.makesIDs) else { return .done }
        // A push has ended meanwhile, and may have created a record whose id is unknown.
        let open = try await scope.read { try JournalRules.openJournals(of: &$0) }
        guard !open.contains(where: { $0.inFlight.contains(where: \.makesID) }) else { return .idsChanged }
        if !spooler.idMappings.isEmpty { try await saveReportedIDs(spooler) }
        return .done
    }

    /// Saves the ids of pushed records that the stream has reported.
    private func saveReportedIDs(_ spooler: StreamSpooler) async throws {
        let makers = Set(scope.schema.tables.filter(\.makesIDs).map(\.name))
        var reported: [PushedRecordKey: IDMapping] = [:]
        for mapping in spooler.idMappings where makers.contains(mapping.table) {
            reported[PushedRecordKey(table: mapping.table, id: mapping.clientID)] = mapping
        }
        // Only ids of records that the caller has pushed: no other user decides which ids its records have.
        let believed = try await withoutStreamed(
            scope.read { try IDRules.unmapped(Array(reported.values), of: &$0) })
        if spooler.counts.idMappings > spooler.idMappings.count {
            scope.logger.warning(
                "more lines about ids came than are looked at in one pull",
                metadata: ["code": "pull.too_many_idmaps", "lines": "\(spooler.counts.idMappings)"])
        }
        guard !believed.isEmpty else { return }
        _ = try await scope.change { try IDRules.save(believed, at: scope.now, in: &$0) }
        scope.logger.info("the stream has told ids of pushed records", metadata: ["records": "\(believed.count)"])
    }

    /// Returns the mappings whose records the caller may have created, not only changed.
    ///
    /// A client's id is the backend's if it is one of the backend's numbers, or if the device has got a record under it
    /// from the stream.
    private func withoutStreamed(_ mappings: [IDMapping]) async throws -> [IDMapping] {
        let schema = scope.schema
        let holdings = LedgerHoldings(store: scope.store, schema: schema, key: scope.services.hashKey)
        var made: [IDMapping] = []
        for (name, mappings) in Dictionary(grouping: mappings, by: \.table) {
            guard let table = schema.table(named: name) else { continue }
            var streamed: Set<String> = []
            if scope.keepsLedgers, row != nil, let outline {
                do {
                    streamed = try await holdings.held(
                        mappings.map(\.clientID), of: table, in: outline, isStreamed: true)
                } catch is LedgerError {
                    scope.logger.error(
                        "a ledger is damaged: lines about ids are passed over",
                        metadata: ["code": "ledger.damaged", "table": "\(name)"])
                    continue
                }
            }
            made += mappings.filter {
                !streamed.contains($0.clientID) && !(table.idType == .integer && PushedIDs.isInteger($0.clientID))
            }
        }
        return made
    }
}
