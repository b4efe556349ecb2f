// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Gateway
import GatewayConfig
import Ledger
import StateStore
import SyncModel

// What must be true in the end; what must never happen is looked at with every answer (Users+Oracle.swift).
extension World {
    /// Lets everything come to rest; says what is wrong, nil if nothing is.
    package func quiesce() async throws -> String? {
        goOn()
        for index in users.devices.indices { await finish(index) }
        var jobs = 0
        while step() || time.leap() {
            jobs += 1
            if jobs > 200_000 { return "what nobody waits for does not come to an end" }
        }
        users.comeToRest()
        fill(nil)
        // The leases of dead gateways run out, and so does the time in which their calls may arrive.
        if gateways.count > 1 { pass(2 * (WorldConfiguration.lease + WorldConfiguration.callTimeout)) }
        try await retry()
        note("--- quiet")
        if let complaint = try await quiet(rounds: 1, pause: 1_000) { return complaint }
        users.showVersions()
        if setup.pushTime == .before {
            // The push of the sync in which a copy becomes a device of its own names the cursor of the other.
            if let complaint = try await quiet(rounds: 1, pause: 1_000) { return complaint }
            users.showVersions()
        }
        if let complaint = try await quiet(rounds: 4, pause: 1_000) { return complaint }
        if let difference = try await difference() { return difference }
        guard setup.hasLedger else { return complaints.first }
        note("--- full comparison")
        pass(10 * WorldConfiguration.day)
        users.backend.pass(days: 10)
        // A type at a time, and none before an hour after it could not be finished.
        let rounds = SimulatedTable.allCases.count + 3
        if let complaint = try await quiet(rounds: rounds, pause: 7_200_000) { return complaint }
        if let difference = try await difference(isCompared: true) { return difference }
        if let difference = try await ledgerDifference() { return difference }
        return complaints.first
    }

    private func quiet(rounds: Int, pause: Int64) async throws -> String? {
        for _ in 0..<rounds {
            for index in users.devices.indices {
                if let failure = try await sync(index).failure {
                    return "a quiet pull of \(users.devices[index].name) failed: \(failure)"
                }
                // One that goes out later than all others, as those of users do.
                pass(1_000)
                if let complaint = complaints.first { return complaint }
            }
            pass(pause)
            for replica in try await store.inspection.replicas(of: nil, after: nil, limit: 1_000) {
                try await store.change(replica.principal) {
                    try ReplicaRules.acceptDeletions(of: replica.id, at: time.now, in: &$0)
                }
            }
        }
        return nil
    }

    /// Describes how a device differs from the backend, beyond the limits of the protocol
    /// (``Users/difference(isCompared:comparing:)``); nil if none does.
    package func difference(isCompared: Bool = false) async throws -> String? {
        var isComparing: [Bool] = []
        for device in users.devices {
            let row = try await context(of: device)?.row
            isComparing.append(row?.comparisons.values.contains { $0.triedAt > 0 || $0.doneAt == 0 } ?? false)
        }
        return users.difference(isCompared: isCompared, comparing: isComparing)
    }

    /// Describes how a ledger differs from the records of its device, or miscounts them; nil if none does.
    private func ledgerDifference() async throws -> String? {
        let configuration = try WorldConfiguration.load(setup, mapping: mapping)
        let ids = users.backend.ids
        let key = LedgerInspector(configuration: configuration, store: store).key
        for device in users.devices {
            guard let context = try await context(of: device), let row = context.row, let outline = context.ledger
            else { continue }
            guard outline.isExact else { return "the ledger of \(device.name) is not exact" }
            let replica = try await store.inspection.replicas(of: nil, after: nil, limit: 1_000).first {
                $0.id == row.replica
            }
            guard let principal = replica?.principal else { continue }
            let notes = try await store.read(principal) { try NoteRules.notes(after: row.noted, limit: 1_000, of: &$0) }
            for table in configuration.schema.tables {
                guard let known = SimulatedTable.allCases.first(where: { $0.name == table.name }) else { continue }
                // What the app does not have it passes over.
                if known == .notes, device.statedVersion == nil, device.version < 2 || users.isMute(device) { continue }
                var view = try LedgerView(
                    source: store.chunkReader, layers: outline.layers, table: table.name,
                    shape: LedgerShape(table: table), key: key)
                var held: Set<String> = []
                while try await view.next() {
                    if view.state == .held, let id = view.entry?.id { held.insert(ids.key(known, id).id) }
                }
                let noted = notes.filter { $0.table == table.name }.map { ids.key(known, $0.id).id }
                let shown = Set(device.shown.keys.filter { $0.table == known }.map(\.id))
                let odd = held.symmetricDifference(shown).subtracting(users.adrift.map(\.id)).subtracting(noted)
                if !odd.isEmpty { return "the ledger of \(device.name) is wrong about \(table.name) \(odd.sorted())" }
                let counted = context.held[table.name] ?? 0
                if noted.isEmpty, counted != held.count {
                    return "the ledger of \(device.name) counts \(counted) \(table.name), and has \(held.count)"
                }
            }
        }
        return nil
    }
}
