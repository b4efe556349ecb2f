// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore

/// Writes the steps of one push's journal: one transaction has all steps that have gathered while the last one ran.
///
/// Most of a write's time is spent waiting for the disk; calls that run at the same time share that wait.
final class JournalWriter: Sendable {
    private enum Role {
        /// The caller's step is written.
        case isDone
        /// The caller writes all gathered steps, its own included.
        case leads
    }

    /// The steps that wait for the next transaction, with the callers that wait for them.
    private struct Gathering {
        var step = JournalStep()
        var waiting: [CheckedContinuation<Role, any Error>] = []
        /// True if a caller is writing, or is about to.
        var isWriting = false

        /// Adds a step; returns true if its caller has to write it.
        mutating func add(_ step: JournalStep) -> Bool {
            self.step.append(step)
            defer { isWriting = true }
            return !isWriting
        }

        /// Takes the steps of the next transaction, with the callers that wait for it besides the one that writes.
        mutating func take() -> (step: JournalStep, followers: [CheckedContinuation<Role, any Error>]) {
            defer { (step, waiting) = (JournalStep(), []) }
            return (step, waiting)
        }

        /// Ends a transaction; returns the caller that writes what has gathered meanwhile.
        mutating func end() -> CheckedContinuation<Role, any Error>? {
            guard waiting.isEmpty else { return waiting.removeFirst() }
            isWriting = false
            return nil
        }
    }

    private let store: @Sendable (JournalStep) async throws -> Void
    private let gathering = NIOLockedValueBox(Gathering())

    /// Creates a writer that stores steps in this way.
    init(store: @escaping @Sendable (JournalStep) async throws -> Void) { self.store = store }

    /// Writes a step, which is durable when the function returns.
    ///
    /// - Throws: The store's errors; all callers whose steps were written together get the same one.
    func write(_ step: JournalStep) async throws {
        guard try await role(of: step) == .leads else { return }
        let (batch, followers) = gathering.withLockedValue { $0.take() }
        let result: Result<Role, any Error>
        do {
            try await store(batch)
            result = .success(.isDone)
        } catch {
            result = .failure(error)
        }
        gathering.withLockedValue { $0.end() }?.resume(returning: .leads)
        for follower in followers { follower.resume(with: result) }
        _ = try result.get()
    }

    /// Adds a step, and waits until it is written or until it is the caller's turn to write.
    private func role(of step: JournalStep) async throws -> Role {
        // Mostly nobody is writing.
        if gathering.withLockedValue({ !$0.isWriting && $0.add(step) }) { return .leads }
        return try await withCheckedThrowingContinuation { continuation in
            let leads = gathering.withLockedValue { gathering in
                // The other caller may have ended meanwhile.
                let leads = gathering.add(step)
                if !leads { gathering.waiting.append(continuation) }
                return leads
            }
            if leads { continuation.resume(returning: .leads) }
        }
    }
}

/// The indices of the operations of one batch of calls, handed out one by one to the senders.
final class CallQueue: Sendable {
    private let indices: [Int]
    private let begun = NIOLockedValueBox(0)

    init(_ indices: [Int]) { self.indices = indices }

    /// Returns the next index; nil if there is none, or if nothing more is to be sent.
    func next() -> Int? {
        begun.withLockedValue { next in
            guard next < indices.count else { return nil }
            defer { next += 1 }
            return indices[next]
        }
    }

    /// Stops the queue: no further operation is begun.
    func stop() { begun.withLockedValue { $0 = indices.count } }
}

/// The journals of pushes that this gateway is running, by their ids; push recovery does not close them.
final class RunningJournals: Sendable {
    private let running = NIOLockedValueBox<[Int64: Bool]>([:])

    /// Notes that a journal is running, and if its push creates records that get their ids from the backend.
    func begin(_ journal: Int64, makesIDs: Bool) { running.withLockedValue { $0[journal] = makesIDs } }

    /// Notes that a journal is no longer running.
    func end(_ journal: Int64) { running.withLockedValue { $0[journal] = nil } }

    /// Returns true if a pull may go on although the journal is open: it is running, and its records keep their ids.
    func isHarmless(_ journal: Int64) -> Bool { running.withLockedValue { $0[journal] == false } }
}
