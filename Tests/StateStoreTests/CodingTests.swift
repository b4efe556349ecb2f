// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel
import Testing

/// Lists of chunks, written and read again.
@Suite struct CodingTests {
    private static func chunk(_ table: String, _ first: UInt64) -> ChunkHead {
        ChunkHead(table: table, first: IDHash(low: 0, high: first), entries: 1, number: Int64(first), size: 40)
    }

    private static let asWritten = [chunk("tasks", 1), chunk("comments", 2), chunk("tasks", 3)]

    @Test func `chunks that were staged in whatever order keep it`() throws {
        let staged = StagedChunks(Self.asWritten)
        #expect(try StagedChunks(decoding: staged.encoded()) == staged)
    }

    @Test func `a layer whose tables do not rise is damaged, since a look-up would miss chunks`() throws {
        var layer = LedgerLayer(id: LayerID(rawValue: 1), cursor: .first, chunks: Self.asWritten)
        #expect(throws: StateError.self) { try LedgerLayer(decoding: layer.encoded()) }
        layer.chunks.sort { $0.precedes($1) }
        #expect(try LedgerLayer(decoding: layer.encoded()) == layer)
    }
}
