// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

@Suite struct LedgerCommitTests {
    private static let replica = ReplicaID(rawValue: 1)

    @Test(.eachStore) func `a staged layer is seen with the commit that names it and can be named once`() async throws {
        let layer = try await store.stageLayer(at: now)
        let entries = ones(1...50)
        let chunks = TestLedger.chunks(entries)
        for part in 0..<3 { try await store.stage(Array(chunks.dropFirst(part * 5).prefix(5)), in: layer) }
        let staged = LedgerCommit.staged(layer, counts: TestLedger.count(entries))
        try await store.begin(row(100), staged)
        #expect(try await store.outline(100).base?.id == layer)
        #expect(try await store.view(100) == entries)
        #expect(try await store.context(100).held == [TestLedger.table: 50])
        #expect(try await store.replica().ledger == TestLedger.count(entries))
        await #expect(throws: StateError.ledgerChanged) { try await store.begin(row(200, replica: 2), staged) }
        for unknown in [layer, LayerID(rawValue: 999)] {
            await #expect(throws: StateError.ledgerChanged) { try await store.stage(chunks, in: unknown) }
        }
        #expect(try await store.context(200).row == nil)
    }

    @Test(.eachStore) func `chunks are found by a hash that they may hold, one by one and many at once`() async throws {
        let entries = Entries(uniqueKeysWithValues: (1...20).map { ($0 * 10, 1) })
        let chunks = TestLedger.chunks(entries) + TestLedger.chunks([15: 1], table: "users")
        try await store.begin(row(100), .chunks(chunks, counts: [:]))
        let base = try #require(try await store.outline(100).base)
        func holding(_ id: UInt8, _ table: String = TestLedger.table) async throws -> LedgerChunk? {
            try await store.chunkReader.chunk(holding: TestLedger.hash(id), in: table, of: base)?.chunk
        }
        for (id, place) in [(9, nil), (10, 0), (49, 0), (50, 1), (255, 4)] as [(UInt8, Int?)] {
            #expect(try await holding(id) == place.map { chunks[$0] })
        }
        #expect(try await holding(14, "users") == nil)
        #expect(try await holding(255, "users") == chunks[5])
        #expect(try await holding(10, "other") == nil)
        func after(_ first: IDHash?, _ limit: Int) async throws -> [LedgerChunk] {
            try await store.chunkReader.chunks(after: first, in: TestLedger.table, of: base, limit: limit)
                .map(\.chunk)
        }
        #expect(try await after(nil, 100) == Array(chunks[..<5]))
        #expect(try await after(chunks[1].first, 2) == Array(chunks[2..<4]))
        #expect(try await after(chunks[4].first, 2).isEmpty)
        #expect(try await after(nil, -1).isEmpty)
        var preloaded = PreloadedChunks()
        try await store.chunkReader.load([base], into: &preloaded)
        #expect(preloaded[base]?.map(\.chunk) == chunks)
    }

    @Test(.eachStore, arguments: [1 << 10, 16 << 10, 16 << 10 + 1, 32 << 10])
    func `small and large layers are read together, whatever their chunks have together`(bytes: Int) async throws {
        var (expected, layers): ([LayerID: [LedgerChunk]], [LedgerLayer]) = ([:], [])
        for (number, count) in [(1, 2), (2, 3), (3, 0), (4, 2), (5, 4), (6, 2), (7, 2)] {
            let chunks = (0..<count).map { part in
                LedgerChunk(
                    table: TestLedger.table, first: TestLedger.hash(UInt8(part)), entries: 1,
                    bytes: [UInt8](repeating: UInt8(number), count: bytes))
            }
            let row = try row(Int64(number) * 100, replica: Int64(number))
            try await store.begin(row, .chunks(chunks, counts: [:]))
            let layer = try #require(try await store.outline(row.cursor.rawValue).base)
            layers.append(layer)
            expected[layer.id] = chunks
            #expect(layer.chunkCount == count)
        }
        var preloaded = PreloadedChunks()
        try await store.chunkReader.load(Array(layers.reversed())[...], into: &preloaded)
        for layer in layers { #expect(preloaded[layer]?.map(\.chunk) == expected[layer.id]) }
    }

    /// A pull that has read ledgers.
    private static func pull(
        _ row: CursorRow, _ replica: PullCommit.Replica = .new, read: [LedgerOutline]
    ) -> PullCommit {
        PullCommit(
            row: row, replica: replica, now: now, ledger: TestLedger.commit([3: 3]),
            ledgersRead: Dictionary(read.map { ($0.replica, $0.version) }) { $1 })
    }

    @Test(.eachStore) func `a commit is refused where any of the ledgers that it has read was changed`() async throws {
        try await store.line([1: 1], [2: 2])
        try await store.begin(row(300, replica: 2), [3: 3])
        let read = try await store.ledgers()
        #expect(read.map(\.replica.rawValue) == [1, 2])
        func commit(_ value: Int64, _ read: [LedgerOutline]) async throws {
            try await store.commit(Self.pull(row(value, replica: value, parent: 100), read: read))
        }
        try await commit(400, read)
        try await store.compact(store.outline(200), [200], finished: 200)
        // What was compacted can be read to the end, although it is of no use.
        try await store.collect()
        #expect(try await store.view(read[0])[2] == 2)
        for outlines in [read, [read[0]]] {
            await #expect(throws: StateError.ledgerChanged) { try await commit(500, outlines) }
        }
        let next = try row(501, parent: 200)
        await #expect(throws: StateError.ledgerChanged) {
            try await store.commit(Self.pull(next, .existing, read: [read[0]]))
        }
        let again = try await store.ledgers()
        #expect(again[0].version != read[0].version)
        try await commit(500, again)
        try await store.commit(Self.pull(next, .existing, read: [again[0]]))
        try await store.commit(Self.pull(row(502, parent: 200), .existing, read: []))
        let last = try await store.ledgers()
        try await store.forget(2)
        await #expect(throws: StateError.ledgerChanged) { try await commit(600, last) }
    }

    @Test(.eachStore) func `leave for deletions is for what was held back until then`() async throws {
        try await store.begin(row(100), [1: 1])
        #expect(try await store.context(100).acceptedAt == 0)
        for time in [now, now - 1] {
            try await store.acceptDeletions(at: time)
            #expect(try await store.context(100).acceptedAt == now)
        }
        #expect(try await store.replica().acceptedAt == now)
        var next = try row(200, parent: 100)
        next.comparisons = [
            "A": FullComparison(doneAt: 1, triedAt: now + 5, mapping: "m", blockedAt: now),
            "B": FullComparison(doneAt: 1, triedAt: now, mapping: "m", blockedAt: now + 1),
            "C": FullComparison(doneAt: 1, triedAt: now - 1, mapping: "m"),
        ]
        try await store.proceed(next, [2: 2])
        let replica = try await store.replica()
        #expect(replica.released == ["A"] && replica.blocked == ["B"])
    }

    @Test(.eachStore(.with { $0.inlineBytes = 0 }))
    func `the operator may ask for a comparison and have a replica forgotten`() async throws {
        try await store.begin(row(100), [1: 1])
        #expect(try await store.context(100).resyncAt == 0)
        for time in [now, now - 1] {
            try await store.resync(at: time)
            #expect(try await store.context(100).resyncAt == now)
        }
        #expect(try await store.replica().resyncAt == now)
        let outline = try await store.outline(100)
        #expect(try await store.forget())
        #expect(try await !store.forget())
        let context = try await store.context(100)
        #expect(context.row == nil && !context.hasLedgers)
        let merge = try #require(LedgerMerge(of: outline, upTo: try cursor(100)))
        let unknown = StateError.replicaUnknown(Self.replica)
        await #expect(throws: unknown) { try await store.resync() }
        await #expect(throws: unknown) { try await store.acceptDeletions() }
        await #expect(throws: unknown) {
            try await store.change(alice) {
                try LedgerRules.compact(LedgerCompactionBatch(), of: merge, at: now, in: &$0)
            }
        }
        // A pull that is under way reads on, and finds the replica gone when it commits.
        #expect(try await store.collect().chunks == 0)
        #expect(try await store.view(outline) == [1: 1])
        await #expect(throws: StateError.ledgerChanged) {
            try await store.commit(Self.pull(row(200, replica: 2), read: [outline]))
        }
        #expect(try await store.collect(at: now + 3_600_001).chunks > 0)
        #expect(try await store.view(outline).isEmpty)
    }

    @Test(.eachStore) func `a cursor keeps how many notes it has seen and when everything was compared`() async throws {
        var first = try row(100)
        first.noted = 7
        first.comparisons = [
            "AlbumsV1": FullComparison(doneAt: now, mapping: "m,1:x"),
            "Ünï": FullComparison(doneAt: 0, triedAt: now - 1, mapping: "", blockedAt: now - 2),
        ]
        try await store.begin(first)
        #expect(try await store.context(100).row == first)
        try await store.proceed(row(200, parent: 100))
        #expect(try await store.context(200).row?.comparisons == [:])
        var third = try row(300, parent: 200)
        third.comparisons = first.comparisons
        try await store.proceed(third)
        let replica = try await store.replica()
        #expect(replica.comparisons == first.comparisons && replica.blocked == ["Ünï"])
    }

    @Test(.eachStore(.with { ($0.chunkBytes, $0.comparisonBytes) = (100, 100) }))
    func `chunks that no store can hold are refused`() async throws {
        func refused(_ error: StateError, _ chunk: LedgerChunk) async throws {
            await #expect(throws: error) { try await store.begin(row(100), .chunks([chunk], counts: [:])) }
            let layer = try await store.stageLayer(at: now)
            await #expect(throws: error) { try await store.stage([chunk], in: layer) }
        }
        var chunk = LedgerChunk(table: "t", first: .first, entries: 1, bytes: Array(repeating: 0, count: 101))
        try await refused(.tooLarge("ledger chunk"), chunk)
        chunk.bytes = [1]
        chunk.table = "a\u{0}b"
        try await refused(.invalid("table"), chunk)
        var long = try row(100)
        long.comparisons = ["A": FullComparison(doneAt: 0, mapping: String(repeating: "m", count: 100))]
        let pull = PullCommit(row: long, replica: .new, now: now)
        await #expect(throws: StateError.tooLarge("comparison states")) { try await store.commit(pull) }
        let context = try await store.context()
        #expect(context == StoredPullContext())
    }
}
