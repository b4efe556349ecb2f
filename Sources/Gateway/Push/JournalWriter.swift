// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Writes the steps of one push's journal, as many in one transaction as have gathered while the last one ran.
///
/// Each write waits for the disk, which takes longer than everything else about it; calls that are under way side by
/// side share it.
actor JournalWriter {
    private enum Role {
        /// Its step is written.
        case isDone
        /// It writes what has gathered, its own step among it.
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

    /// Writes a step; durable when it returns.
    ///
    /// - Throws: What the store throws; of steps that were written together each caller hears it.
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

/// The places of one batch of calls, handed out one by one to those who send.
final class CallQueue: Sendable {
    private let places: [Int]
    private let next0 = NIOLockedValueBox(0)

    init(_ places: [Int]) { self.places = places }

    /// The next place; nil where there is none, or where nothing more is to be begun.
    func next() -> Int? {
        next0.withLockedValue { next in
            guard next < places.count else { return nil }
            defer { next += 1 }
            return places[next]
        }
    }

    /// Has nothing more begun.
    func stop() { next0.withLockedValue { $0 = places.count } }
}

/// The journals of pushes that this gateway runs, by their numbers: nobody closes those.
final class RunningJournals: Sendable {
    private let running = NIOLockedValueBox<[Int64: Bool]>([:])

    /// Notes that a journal runs, and whether its push makes records that get their ids from the backend.
    func begin(_ journal: Int64, makesIDs: Bool) { running.withLockedValue { $0[journal] = makesIDs } }

    /// Notes that it does not run any more.
    func end(_ journal: Int64) { running.withLockedValue { $0[journal] = nil } }

    /// Whether a pull may go on although a journal is open: it runs, and what it makes keeps its ids.
    func isHarmless(_ journal: Int64) -> Bool { running.withLockedValue { $0[journal] == false } }
}
