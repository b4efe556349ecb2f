// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Writes what a push means for the ledgers of its principal's devices (finding 14); nothing if no ledger is kept.
struct PushNotes {
    /// The number of notes that are written in one transaction.
    static let atOnce = 2_000

    private let scope: PushScope
    /// The device that pushes; nil if it is unknown.
    private let replica: ReplicaID?
    /// Makes the notes; nil if no ledger is kept.
    let maker: NoteMaker?

    init(_ scope: PushScope, replica: ReplicaID?) {
        self.scope = scope
        self.replica = replica
        maker =
            scope.services.pullSettings.keepsLedgers
            ? NoteMaker(schema: scope.schema, reader: scope.reader, hashKey: scope.services.hashKey) : nil
    }

    /// Begins the notes of the push.
    ///
    /// Only its own notes get sequences greater than the returned one.
    func begin() async throws -> Int64? {
        guard maker != nil else { return nil }
        // Few notes leave nothing to be made room for.
        if let sequence = scope.known?.sequence, sequence <= scope.store.limits.notesPerPrincipal { return sequence }
        return try await scope.store.beginNotes(of: scope.principal)
    }

    /// Returns the notes that the backend has these operations, if they can be written together with something else.
    func held(_ indices: Set<Int>) -> [PushNote]? {
        guard let maker, indices.count <= Self.atOnce, scope.known?.hasRecordedRedeliveries == false else { return nil }
        return indices.sorted().compactMap { maker.held(scope.plan.operations[$0]) }
    }

    /// Notes that operations are about to be sent, and makes a change with the last of these notes.
    ///
    /// - Returns: False if the change was not made, because there was nothing to note last.
    @discardableResult
    func writeSeen(
        _ operations: some Collection<PushOperation>,
        with change: @escaping @Sendable (inout Account) throws -> Void = { _ in }
    ) async throws -> Bool {
        try await write(operations, with: change) { try $0.note($1, .seen) }
    }

    /// Notes that the backend has these operations.
    func writeHeld(_ indices: Set<Int>) async throws {
        try await write(indices.sorted().map { scope.plan.operations[$0] }) { $0.held($1) }
        try await dropRedeliveries(indices)
    }

    /// Notes that the backend has refused operations although their client takes them for synced.
    func writeRefused(_ indices: Set<Int>) async throws {
        try await write(indices.sorted().map { scope.plan.operations[$0] }) { try $0.note($1, .refused) }
    }

    /// Notes what the backend has applied of a stream push that was cut short.
    ///
    /// Without this, a created record would count as only seen; if the backend deleted it before the next pull, it
    /// would stay on its device for ever. This also works in a cancelled task: the state finishes a write even if its
    /// caller has gone.
    func writeHeldAtLast(_ indices: Set<Int>) async {
        guard !indices.isEmpty, maker != nil else { return }
        do {
            try await writeHeld(indices)
        } catch {
            scope.logger.notWritten("could not record an applied push", error)
        }
    }

    /// Drops the notes of a push that the backend has refused as a whole: *seen* protects records that may have been
    /// applied, and none was.
    ///
    /// Notes of an earlier push about the same records stay, because that push may have been applied.
    func drop(after sequence: Int64) async {
        do {
            try await scope.store.dropNotes(of: scope.principal, after: sequence)
        } catch {
            scope.logger.notWritten("could not drop the notes of a refused push", error)
        }
    }

    /// Drops the pending redeliveries of the records of these operations.
    func dropRedeliveries(_ indices: Set<Int>) async throws {
        guard let replica, maker != nil, !indices.isEmpty, scope.known?.hasRecordedRedeliveries ?? true else { return }
        var rest = indices.map(scope.key(at:)).map { PendingRedelivery(table: $0.table, id: $0.id) }[...]
        while !rest.isEmpty {
            try await scope.change { try RedeliveryRules.drop(Array(rest.prefix(Self.atOnce)), of: replica, in: &$0) }
            rest = rest.dropFirst(Self.atOnce)
        }
    }

    /// Notes which records the device's next pull has to bring.
    ///
    /// A failure is only logged: the client must still hear of the conflict.
    func scheduleRedelivery(_ records: [PushRefusal.Record]) async {
        guard let replica else { return }
        let redeliveries = records.filter {
            RecordID.isSafe($0.id) && scope.schema.table(named: $0.table)?.isLedgered == true
        }
        .map { PendingRedelivery(table: $0.table, id: $0.id) }
        do {
            try await scope.change { try RedeliveryRules.schedule(redeliveries, to: replica, at: scope.now, in: &$0) }
        } catch {
            scope.logger.notWritten("could not record pending redeliveries for a conflict", error)
        }
    }

    /// Writes notes in transactions of bounded size, since others write to the state, too.
    ///
    /// A push that ends between two transactions has noted some of its ids as seen, which is harmless.
    ///
    /// - Returns: True if the change was made, with the last notes.
    @discardableResult
    private func write(
        _ operations: some Collection<PushOperation>,
        with change: @Sendable (inout Account) throws -> Void = { _ in },
        _ note: (NoteMaker, PushOperation) throws -> PushNote?
    ) async throws -> Bool {
        guard let maker else { return false }
        var (rest, isDone) = (operations[...], false)
        while !rest.isEmpty {
            let notes = try rest.prefix(Self.atOnce).compactMap { try note(maker, $0) }
            rest = rest.dropFirst(Self.atOnce)
            guard !notes.isEmpty else { continue }
            let isLast = rest.isEmpty
            try await scope.change { account in
                if isLast { try change(&account) }
                try NoteRules.write(notes, at: scope.now, in: &account)
            }
            isDone = isLast
        }
        return isDone
    }
}
