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

    /// False: nothing waits for a disk.
    package let commitsInGroups = false
    private let gate: Gate?
    private let table: NIOLockedValueBox<ByteTable?>

    /// Creates an empty store.
    package convenience init(gate: Gate? = nil) { self.init(gate, NIOLockedValueBox(ByteTable())) }

    private init(_ gate: Gate?, _ table: NIOLockedValueBox<ByteTable?>) {
        self.gate = gate
        self.table = table
    }

    /// Returns a second store of the same bytes, with a gate of its own: another gateway's.
    package func shared(gate: @escaping Gate) -> MemoryBytes { MemoryBytes(gate, table) }

    /// Returns an independent store with the present bytes: a backup.
    package func copy() -> MemoryBytes { MemoryBytes(gate, NIOLockedValueBox(table.withLockedValue(\.self))) }

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
        return try with { table in lookups.map { table.rows(of: $0) } }
    }

    package func chunks(_ numbers: [Int64]) async throws -> [[UInt8]?] {
        try await gate?(.beforeReading)
        return try with { table in numbers.map { table.chunk($0) } }
    }

    package func reserve(_ kind: RowKind, count: Int) async throws -> [Int64] {
        try with { $0.reserve(kind, count: count) }
    }

    package func commit(_ group: [OwnedChanges]) async throws -> [CommitOutcome] {
        try await gate?(.beforeWriting)
        let outcomes = try with { table in group.map { table.make($0.changes) } }
        try await gate?(.afterWriting)
        return outcomes
    }

    package func check(thoroughly: Bool) async throws { _ = try await load([]) }

    package func checkWriting(within limit: Duration) async throws { _ = try await commit([]) }

    package func close() async { table.withLockedValue { $0 = nil } }

    package func take(_ request: LeaseRequest, of principal: Principal) async throws -> LeaseAnswer {
        try await gate?(.beforeWriting)
        let answer = try with { $0.leases.take(request, of: principal) }
        try await gate?(.afterWriting)
        return answer
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
