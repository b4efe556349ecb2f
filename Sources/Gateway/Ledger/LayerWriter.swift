// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Takes the chunks of a pull's new layer: a few wait for the commit, more are staged, so that memory stays bounded.
///
/// Belongs to one diff of one pull.
final class LayerWriter {
    /// The number of chunks that wait in memory: an eighth of a megabyte, and one transaction.
    private static let maximumWaiting = 64
    /// The greatest number of batches on their way to the state.
    private static let maximumHanded = 2

    private let staging: LayerStaging
    private var progress: AsyncStream<Void>.Iterator
    private var waiting: [LedgerChunk] = []
    private var handed = 0
    private var isStaged = false

    /// Creates a writer to a staging that runs in another task.
    init(_ staging: LayerStaging) {
        self.staging = staging
        progress = staging.progress
    }

    /// Takes the next chunks, in the order of their tables and hashes.
    func append(_ chunks: [LedgerChunk]) async throws {
        waiting += chunks
        guard waiting.count > Self.maximumWaiting else { return }
        try await hand()
    }

    /// Returns the ledger's part of the commit, once all chunks are staged.
    func finish(counts: [String: LedgerCount]) async throws -> LedgerCommit {
        guard isStaged else { return .chunks(waiting, counts: counts) }
        if !waiting.isEmpty { try await hand() }
        while handed > 0 { try await waitForOne() }
        return staging.layer.map { .staged($0, counts: counts) } ?? .none
    }

    private func hand() async throws {
        if handed == Self.maximumHanded { try await waitForOne() }
        staging.hand(waiting)
        handed += 1
        isStaged = true
        waiting = []
    }

    private func waitForOne() async throws {
        guard await progress.next(isolation: #isolation) != nil else { throw staging.failure }
        handed -= 1
    }
}
