// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Writes down what a push means for the ledgers of its principal's devices (finding 14); nothing where none is kept.
struct PushNotes {
    /// How many are written in one transaction.
    static let atOnce = 2_000

    private let scope: PushScope
    /// The device that pushes.
    private let replica: ReplicaID?
    /// Makes them; nil where no ledger is kept.
    let maker: NoteMaker?

    init(_ scope: PushScope, replica: ReplicaID?) {
        self.scope = scope
        self.replica = replica
        maker =
            scope.services.pullSettings.comparisons == nil
            ? nil : NoteMaker(schema: scope.schema, reader: scope.reader, hashKey: scope.services.hashKey)
    }

    /// Makes room for the notes of the push; theirs alone have greater sequences.
    func begin() async throws -> Int64? {
        maker == nil ? nil : try await scope.store.beginNotes(of: scope.principal)
    }

    /// Writes down that operations are about to be sent.
    func writeSeen(_ operations: some Collection<PushOperation>) async throws {
        try await write(operations) { try $0.note($1, .seen) }
    }

    /// Writes down that the backend has these operations.
    func writeHeld(_ places: Set<Int>) async throws {
        try await write(places.sorted().map { scope.plan.operations[$0] }) { $0.held($1) }
        try await dropRedeliveries(places)
    }

    /// Writes down that the backend has refused operations and that their client takes them for synced all the same.
    func writeRefused(_ places: Set<Int>) async throws {
        try await write(places.sorted().map { scope.plan.operations[$0] }) { try $0.note($1, .refused) }
    }

    /// Writes down what the backend has of a stream push that comes to no end.
    ///
    /// Without it what was created would count as only seen, and stay on its device for ever if it goes before the next
    /// pull. Runs in a task that is cancelled, too: writes of the state are finished whatever becomes of their caller.
    func writeHeldAtLast(_ places: Set<Int>) async {
        guard !places.isEmpty, maker != nil else { return }
        do {
            try await writeHeld(places)
        } catch {
            scope.logger.notWritten("could not record an applied push", error)
        }
    }

    /// Takes back what the push has noted, where the backend has refused it as a whole: that its records were seen
    /// protects what may have been applied, and nothing was.
    ///
    /// Notes of records that an earlier push has noted stay: what became of that one is another matter.
    func drop(after sequence: Int64) async {
        do {
            try await scope.store.dropNotes(of: scope.principal, after: sequence)
        } catch {
            scope.logger.notWritten("could not drop the notes of a refused push", error)
        }
    }

    /// Drops the pending redeliveries of what these operations are about.
    func dropRedeliveries(_ places: Set<Int>) async throws {
        guard let replica, maker != nil, !places.isEmpty else { return }
        var rest = places.map(scope.key(at:)).map { PendingRedelivery(table: $0.table, id: $0.id) }[...]
        while !rest.isEmpty {
            try await scope.store.dropRedeliveries(Array(rest.prefix(Self.atOnce)), of: replica)
            rest = rest.dropFirst(Self.atOnce)
        }
    }

    /// Writes down what the next pull of the device has to bring; where that fails the client hears of the conflict all
    /// the same.
    func scheduleRedelivery(_ records: [PushRefusal.Record]) async {
        guard let replica else { return }
        let redeliveries = records.filter {
            RecordID.isSafe($0.id) && scope.schema.table(named: $0.table)?.isLedgered == true
        }
        .map { PendingRedelivery(table: $0.table, id: $0.id) }
        do {
            try await scope.store.scheduleRedelivery(redeliveries, to: replica, at: scope.now)
        } catch {
            scope.logger.notWritten("could not record pending redeliveries for a conflict", error)
        }
    }

    /// Writes notes in transactions of bounded size, since others write to the state, too.
    ///
    /// A push that ends between two of them has noted some of its ids as seen, which does no harm.
    private func write(
        _ operations: some Collection<PushOperation>, _ note: (NoteMaker, PushOperation) throws -> PushNote?
    ) async throws {
        guard let maker else { return }
        var rest = operations[...]
        while !rest.isEmpty {
            let notes = try rest.prefix(Self.atOnce).compactMap { try note(maker, $0) }
            rest = rest.dropFirst(Self.atOnce)
            guard !notes.isEmpty else { continue }
            try await scope.store.note(notes, principal: scope.principal, at: scope.now)
        }
    }
}
