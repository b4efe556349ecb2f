// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Stages a layer in a task of its own, so that the state is written while the diff goes on.
///
/// One task runs ``run()``; another one hands batches over and waits where the state falls behind.
final class LayerStaging: Sendable {
    private struct State {
        var layer: LayerID?
        var failure: (any Error)?
    }

    private let store: any StateStore
    private let clock: any WallClock
    private let state = NIOLockedValueBox(State())
    private let batches = AsyncStream.makeStream(of: [LedgerChunk].self)
    /// Has an element for every batch that was staged, and ends when no other will be.
    private let staged = AsyncStream.makeStream(of: Void.self)

    init(store: any StateStore, clock: any WallClock) {
        self.store = store
        self.clock = clock
    }

    /// Stages batch by batch until its task is cancelled.
    func run() async {
        defer { staged.continuation.finish() }
        do {
            for await batch in batches.stream {
                try await stage(batch)
                staged.continuation.yield()
            }
        } catch {
            state.withLockedValue { $0.failure = error }
        }
    }

    /// Hands a batch over; it is staged after those before it.
    func hand(_ batch: [LedgerChunk]) { batches.continuation.yield(batch) }

    /// One element for each batch that was handed over; one caller.
    var progress: AsyncStream<Void>.Iterator { staged.stream.makeAsyncIterator() }

    /// Why there is no more progress: what the state threw, or that the task was cancelled.
    var failure: any Error { state.withLockedValue { $0.failure } ?? CancellationError() }

    /// The layer, once the first batch was staged.
    var layer: LayerID? { state.withLockedValue { $0.layer } }

    private func stage(_ batch: [LedgerChunk]) async throws {
        if let layer { return try await store.stage(batch, in: layer) }
        let made = try await store.stageLayer(at: clock.now)
        state.withLockedValue { $0.layer = made }
        try await store.stage(batch, in: made)
    }
}
