// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine

/// A complete stream in the spool: what goes out of it, and where it lies.
struct FinishedSpool: Sendable {
    /// How much is read from the spool at once, in bytes.
    static let readSize = 256 * 1024

    /// The bytes.
    let spool: Spool
    /// Where each segment lies.
    let segments: [SegmentKey: SegmentIndex]
    /// What is superseded, and the counts.
    let compaction: Compaction

    /// Reads what is left of a segment, piece by piece, ready to stand between `[` and `]`.
    func forEachPiece(of key: SegmentKey, _ body: ([UInt8]) async throws -> Void) async throws {
        guard let segment = segments[key] else { return }
        for extent in segment.live(without: compaction.holes[key] ?? []) {
            var offset = extent.offset
            var left = extent.length
            while left > 0 {
                let piece = try await spool.read(at: offset, upTo: Int(min(left, UInt64(Self.readSize))))
                try await body(piece)
                offset += UInt64(piece.count)
                left -= UInt64(piece.count)
            }
        }
    }
}
