// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import StateStore

/// Keeps the whole state as one value in memory: the reference that every other store is compared with.
///
/// A transaction works on a copy, which replaces the value if nothing was thrown. Nothing is indexed, and nothing is
/// kept when the process ends, so it serves tests and simulations only. Methods suspend only in the ``Gate``.
package final class MemoryStateStore: Sendable {
    /// Runs before a transaction begins and after it has ended, so that a simulation can interleave, fail or stop
    /// there.
    ///
    /// If it throws before a transaction, its error is thrown and the transaction does not run. If it throws after a
    /// transaction that has written, the state has changed although the caller gets an error: the answer was lost.
    package typealias Gate = @Sendable (Moment) async throws -> Void

    /// The moments at which a ``Gate`` runs.
    package enum Moment: Hashable, Sendable {
        case beforeReading, beforeWriting, afterWriting
    }

    /// The lead of cursors over the clock, in milliseconds.
    package let cursorLead: Int64
    /// The limits on what the store keeps and how often it writes.
    package let limits: StateLimits
    /// True if syncs need leases, as in a state that several gateways share.
    package let needsLeases: Bool
    private let gate: Gate?
    private let contents: NIOLockedValueBox<Contents?>

    /// Creates an empty state.
    package init(
        limits: StateLimits = StateLimits(), cursorLead: Int64 = 0, needsLeases: Bool = false, gate: Gate? = nil
    ) {
        self.needsLeases = needsLeases
        self.cursorLead = cursorLead
        self.limits = limits
        self.gate = gate
        contents = NIOLockedValueBox(Contents(limits: limits))
    }

    private init(_ store: MemoryStateStore, gate: Gate?, contents: NIOLockedValueBox<Contents?>) {
        needsLeases = store.needsLeases
        cursorLead = store.cursorLead
        limits = store.limits
        self.gate = gate
        self.contents = contents
    }

    /// Returns a second store on the same state, with a gate of its own: another gateway's.
    package func shared(gate: @escaping Gate) -> MemoryStateStore {
        MemoryStateStore(self, gate: gate, contents: contents)
    }

    /// Returns an independent store with the present contents of this one: a backup.
    package func copy() -> MemoryStateStore {
        MemoryStateStore(self, gate: gate, contents: NIOLockedValueBox(contents.withLockedValue(\.self)))
    }

    /// Reads the state; throws if the task is cancelled.
    func read<T: Sendable>(_ body: (Contents) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await look(body)
    }

    /// Reads the state even if the task is cancelled, for decisions about whether to write.
    func look<T: Sendable>(_ body: (Contents) throws -> T) async throws -> T {
        try await gate?(.beforeReading)
        return try contents.withLockedValue { contents in
            guard let contents else { throw StateError.closed }
            return try body(contents)
        }
    }

    /// Changes the state, or leaves it unchanged if the body throws or the sync's lease has passed to another gateway.
    func write<T: Sendable>(_ body: (inout Contents) throws -> T) async throws -> T {
        try await gate?(.beforeWriting)
        let result = try contents.withLockedValue { contents in
            guard var next = contents else { throw StateError.closed }
            let running = RunningLease.current
            if let running { try next.leases.check(running.lease) }
            let result = try body(&next)
            if let running, running.isGivenBack { next.leases.giveBack(running.lease) }
            contents = next
            return result
        }
        try await gate?(.afterWriting)
        return result
    }

    /// Reports no damage: there is no file.
    package func check(thoroughly: Bool) async throws {
        try await read { _ in }
    }

    /// Runs a transaction that changes nothing.
    package func checkWriting(within limit: Duration) async throws {
        try await write { _ in }
    }

    /// Forgets everything.
    package func close() async {
        contents.withLockedValue { $0 = nil }
    }
}
