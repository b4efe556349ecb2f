// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Runs tasks on the caller's thread, one job at a time, in an order drawn from a seed.
///
/// Every task that is ready is a job, and the next one is drawn. So the same seed gives the same interleaving, as long
/// as nothing waits for another thread, a real clock or a socket.
package final class SeededExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var random: SeededGenerator
        var steps = 0
    }

    private let state: NIOLockedValueBox<State>

    /// Creates an executor without jobs.
    package init(seed: UInt64) {
        state = NIOLockedValueBox(State(random: SeededGenerator(seed: seed &* 0xd134_2543_de82_ef95 &+ 1)))
    }

    /// The number of jobs that have run.
    package var steps: Int { state.withLockedValue(\.steps) }

    /// Takes a job that can run now.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLockedValue { $0.jobs.append(job) }
    }

    /// Runs one job.
    ///
    /// - Returns: Whether there was one.
    package func step() -> Bool {
        let job: UnownedJob? = state.withLockedValue { state in
            guard !state.jobs.isEmpty else { return nil }
            state.steps += 1
            return state.jobs.remove(at: Int.random(in: state.jobs.indices, using: &state.random))
        }
        guard let job else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    /// Draws the next number of the seed.
    package func draw() -> UInt64 { state.withLockedValue { $0.random.next() } }
}
