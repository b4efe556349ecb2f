// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Stages a layer in a task of its own, so that the state is written while the diff goes on.
///
/// One task runs ``run()``; another one hands batches over and waits if the state falls behind.
final class LayerStaging: Sendable {
    private struct State {
        var layer: LayerID?
        var failure: (any Error)?
    }

    private let store: Accounts
    private let clock: any WallClock
    private let state = NIOLockedValueBox(State())
    private let batches = AsyncStream.makeStream(of: [LedgerChunk].self)
    /// Yields an element for every staged batch, and ends when no more will be staged.
    private let staged = AsyncStream.makeStream(of: Void.self)

    init(store: Accounts, clock: any WallClock) {
        self.store = store
        self.clock = clock
    }

    /// Stages batch after batch until its task is cancelled.
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

    /// Yields one element for each batch that was staged; for one caller only.
    var progress: AsyncStream<Void>.Iterator { staged.stream.makeAsyncIterator() }

    /// The reason why there is no more progress: the state's error, or a cancellation.
    var failure: any Error { state.withLockedValue { $0.failure } ?? CancellationError() }

    /// The layer; nil until the first batch is staged.
    var layer: LayerID? { state.withLockedValue { $0.layer } }

    private func stage(_ batch: [LedgerChunk]) async throws {
        if let layer { return try await store.stage(batch, in: layer) }
        let made = try await store.stageLayer(at: clock.now)
        state.withLockedValue { $0.layer = made }
        try await store.stage(batch, in: made)
    }
}
