// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import JSONBytes
import Logging
import StateStore
import SyncEngine
import SyncModel

// What a push means for the ledgers of its principal's devices (finding 14).
extension PushRunner {
    /// How many notes are written in one transaction.
    static let notesAtOnce = 2_000

    /// Makes notes; nil where no ledger is kept.
    var notes: NoteMaker? {
        guard services.pullSettings.comparisons != nil else { return nil }
        return NoteMaker(schema: services.configuration.schema, reader: reader, hashKey: services.hashKey)
    }

    /// Writes down that all operations are about to be sent.
    mutating func noteSeen() async throws {
        try await beginNotes()
        try await note(plan.operations) { try $0.note($1, .seen) }
    }

    /// Makes room for the notes of the push, and remembers where they begin.
    mutating func beginNotes() async throws {
        guard notes != nil else { return }
        notedAfter = try await services.store.beginNotes(of: identity.principal)
    }

    /// Takes back what a push has noted that the backend has refused as a whole: that its records were seen protects
    /// what may have been applied, and nothing was.
    ///
    /// Notes of records that an earlier push has noted stay: what became of that one is another matter.
    func dropNotes(_ machine: PushMachine) async {
        guard let notedAfter, machine.isUnapplied else { return }
        do {
            try await services.store.dropNotes(of: identity.principal, after: notedAfter)
        } catch {
            logger.notWritten("could not drop the notes of a refused push", error)
        }
    }

    /// Writes down that the backend has these operations.
    func noteHeld(_ places: Set<Int>) async throws {
        try await note(places.sorted().map { plan.operations[$0] }) { $0.held($1) }
        try await dropRedeliveries(places)
    }

    /// Drops the pending redeliveries of what these operations are about.
    func dropRedeliveries(_ places: Set<Int>) async throws {
        guard let row, notes != nil, !places.isEmpty else { return }
        var rest = places.map { plan.operations[$0] }.map {
            PendingRedelivery(table: reader.tableName(of: $0), id: $0.id)
        }[...]
        while !rest.isEmpty {
            try await services.store.dropRedeliveries(Array(rest.prefix(Self.notesAtOnce)), of: row.replica)
            rest = rest.dropFirst(Self.notesAtOnce)
        }
    }

    /// Writes down what the next pull of the device has to bring; where that fails the client hears of the conflict all
    /// the same.
    func scheduleRedelivery(_ records: [PushRefusal.Record]) async {
        guard let row else { return }
        let schema = services.configuration.schema
        let redeliveries = records.filter {
            RecordID.isSafe($0.id) && schema.table(named: $0.table)?.isLedgered == true
        }
        .map { PendingRedelivery(table: $0.table, id: $0.id) }
        do {
            try await services.store.scheduleRedelivery(redeliveries, to: row.replica, at: services.clock.now)
        } catch {
            logger.notWritten("could not record pending redeliveries for a conflict", error)
        }
    }

    /// Writes down that the backend has refused operations and that their client takes them for synced all the same.
    func noteRefused(_ places: Set<Int>) async throws {
        try await note(places.sorted().map { plan.operations[$0] }) { try $0.note($1, .refused) }
    }

    /// Writes down what the backend has of a stream push that comes to no end.
    ///
    /// Without it what was created would count as only seen, and stay on its device for ever if it goes before the next
    /// pull. Runs in a task that is cancelled, too: writes of the state are finished whatever becomes of their caller.
    func noteApplied(_ places: Set<Int>) async {
        guard !places.isEmpty, notes != nil else { return }
        do {
            try await noteHeld(places)
        } catch {
            logger.notWritten("could not record an applied push", error)
        }
    }

    /// Writes notes in transactions of bounded size, since others write to the state, too.
    ///
    /// A push that ends between two of them has noted some of its ids as seen, which does no harm.
    func note(
        _ operations: [PushOperation], _ note: (NoteMaker, PushOperation) throws -> PushNote?
    ) async throws {
        guard let maker = self.notes else { return }
        var rest = operations[...]
        while !rest.isEmpty {
            let notes = try rest.prefix(Self.notesAtOnce).compactMap { try note(maker, $0) }
            rest = rest.dropFirst(Self.notesAtOnce)
            guard !notes.isEmpty else { continue }
            try await services.store.note(notes, principal: identity.principal, at: services.clock.now)
        }
    }
}
