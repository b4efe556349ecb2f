// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Writes the steps of one push's journal. One transaction has all steps that have gathered while the last one ran.
///
/// Most of a write's time is spent waiting for the disk; calls that run at the same time share that wait.
actor JournalWriter {
    private enum Role {
        /// The caller's step is written.
        case isDone
        /// The caller writes all gathered steps, its own included.
        case leads
    }

    private let journal: Int64
    private let store: any JournalStore
    private let clock: any WallClock
    private var gathered = JournalStep()
    private var waiting: [CheckedContinuation<Role, any Error>] = []
    private var isWriting = false

    init(journal: Int64, store: any JournalStore, clock: any WallClock) {
        self.journal = journal
        self.store = store
        self.clock = clock
    }

    /// Writes a step, which is durable when the function returns.
    ///
    /// - Throws: The store's errors; all callers whose steps were written together get the same one.
    func write(_ step: JournalStep) async throws {
        gathered.append(step)
        if isWriting {
            let role = try await withCheckedThrowingContinuation { waiting.append($0) }
            guard role == .leads else { return }
        }
        isWriting = true
        let (batch, followers) = (gathered, waiting)
        (gathered, waiting) = (JournalStep(), [])
        let result: Result<Role, any Error>
        do {
            try await store.advance(batch, of: journal, at: clock.now)
            result = .success(.isDone)
        } catch {
            result = .failure(error)
        }
        if waiting.isEmpty {
            isWriting = false
        } else {
            waiting.removeFirst().resume(returning: .leads)
        }
        for follower in followers { follower.resume(with: result) }
        _ = try result.get()
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
