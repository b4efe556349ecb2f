// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import StateStore
package import SyncModel

/// Keeps bytes in memory, for tests and simulations.
package final class MemoryBytes: ByteStore, LeaseKeeping {
    /// Runs before rows are read or changes made, and after they were made, so that a simulation can interleave, fail or
    /// stop there.
    ///
    /// If it throws before, its error is thrown and nothing happens. If it throws afterwards, the state has changed
    /// although the caller gets an error: the answer was lost.
    package typealias Gate = @Sendable (Moment) async throws -> Void

    /// The moments at which a ``Gate`` runs.
    package enum Moment: Hashable, Sendable {
        case beforeReading, beforeWriting, afterWriting
    }

    /// Hears of each call with its answer, in their order, so that another store can be compared.
    package typealias Witness = @Sendable (Call) -> Void

    /// A call with its answer.
    package enum Call: Sendable {
        case load([Lookup], [[ByteRow]])
        case chunks([Int64], [[UInt8]?])
        case commit([RowChanges], [CommitOutcome])
    }

    /// True if a test wants what waits to be committed together: nothing waits for a disk.
    package let commitsInGroups: Bool
    private let gate: Gate?
    private let witness: Witness?
    private let table: NIOLockedValueBox<ByteTable?>
    /// False if it is to look as if only reading told whether others have changed something.
    private let seesChanges: Bool
    /// The number of own commits.
    private let commits = NIOLockedValueBox<Int64>(0)

    /// Creates an empty store.
    package convenience init(commitsInGroups: Bool = false, gate: Gate? = nil) {
        self.init(of: NIOLockedValueBox(ByteTable()), gate, commitsInGroups: commitsInGroups)
    }

    private init(
        of table: NIOLockedValueBox<ByteTable?>, _ gate: Gate?, commitsInGroups: Bool, witness: Witness? = nil,
        seesChanges: Bool = true
    ) {
        self.gate = gate
        self.commitsInGroups = commitsInGroups
        self.witness = witness
        self.table = table
        self.seesChanges = seesChanges
    }

    /// Returns a second store of the same bytes, with a gate of its own: another gateway's.
    package func shared(seesChanges: Bool = true, gate: @escaping Gate) -> MemoryBytes {
        MemoryBytes(
            of: table, gate, commitsInGroups: commitsInGroups, witness: witness, seesChanges: seesChanges)
    }

    /// Returns an independent store with the present bytes, a backup, whose calls a witness hears of.
    package func copy(for witness: Witness? = nil) -> MemoryBytes {
        MemoryBytes(
            of: NIOLockedValueBox(table.withLockedValue(\.self)), gate, commitsInGroups: commitsInGroups,
            witness: witness)
    }

    package func foreignChanges() async throws -> Int64? {
        try await gate?(.beforeReading)
        let all = try with { $0.commits }
        return seesChanges ? all - commits.withLockedValue(\.self) : nil
    }

    private func with<T>(_ body: (inout ByteTable) throws -> T) throws -> T {
        try table.withLockedValue { table in
            guard var open = table else { throw StateError.closed }
            // Not copied while it is changed.
            table = nil
            defer { table = open }
            return try body(&open)
        }
    }

    package func load(_ lookups: [Lookup]) async throws -> [[ByteRow]] {
        try await gate?(.beforeReading)
        return try with { rows(of: lookups, in: $0) }
    }

    private func rows(of lookups: [Lookup], in table: ByteTable) -> [[ByteRow]] {
        let rows = lookups.map { table.rows(of: $0) }
        witness?(.load(lookups, rows))
        return rows
    }

    package func chunks(_ numbers: [Int64]) async throws -> [[UInt8]?] {
        try await gate?(.beforeReading)
        return try with { table in
            let chunks = numbers.map { table.chunk($0) }
            witness?(.chunks(numbers, chunks))
            return chunks
        }
    }

    /// The location without secrets, for the operator.
    package let location = "memory"

    package func page(of table: ByteTableName, after key: RowKey?, limit: Int) async throws -> [ByteRow] {
        try with { $0.page(of: table, after: key, limit: limit) }
    }

    package func reserve(_ kind: RowKind, count: Int) async throws -> [Int64] {
        try with { $0.reserve(kind, count: count) }
    }

    package func commit(_ group: [RowChanges]) async throws -> [CommitOutcome] {
        try await gate?(.beforeWriting)
        let outcomes = try with { make(group, in: &$0) }
        try await gate?(.afterWriting)
        return outcomes
    }

    private func make(_ group: [RowChanges], in table: inout ByteTable) -> [CommitOutcome] {
        table.commits += 1
        commits.withLockedValue { $0 += 1 }
        let outcomes = group.map { table.make($0) }
        witness?(.commit(group, outcomes))
        return outcomes
    }

    package func check(thoroughly: Bool) async throws { _ = try await load([]) }

    package func checkWriting(within limit: Duration) async throws { _ = try await commit([]) }

    package func close() async { table.withLockedValue { $0 = nil } }

    package func take(
        _ request: LeaseRequest, of principal: Principal, deleting key: RowKey, loading lookups: [Lookup]
    ) async throws -> (answer: LeaseAnswer, rows: [[ByteRow]]) {
        try await gate?(.beforeWriting)
        let result = try with { table in
            let answer = table.leases.take(request, of: principal)
            if case .taken(_, .some, _) = answer {
                var changes = RowChanges()
                changes.rows.updateValue(nil, forKey: key)
                _ = make([changes], in: &table)
            }
            return (answer, rows(of: lookups, in: table))
        }
        try await gate?(.afterWriting)
        return result
    }

    package func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws {
        try await gate?(.beforeWriting)
        try with { try $0.leases.renew(lease, until: now + milliseconds) }
        try await gate?(.afterWriting)
    }

    package func giveBack(_ lease: Lease) async throws {
        try await gate?(.beforeWriting)
        try with { $0.leases.giveBack(lease) }
        try await gate?(.afterWriting)
    }
}
