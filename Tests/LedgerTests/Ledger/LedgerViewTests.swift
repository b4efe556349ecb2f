// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import LineProjection
import SyncModel
import Testing

@Suite struct LedgerViewTests {
    static let shape = LedgerShape(links: 1, feeds: 2)
    static let base = LedgerLayer(1)
    static let delta = LedgerLayer(2)

    static func entries(_ count: Int, content: UInt64 = 1) -> [LedgerEntry] {
        (0..<count).map { number in
            let id = "record-\(number)"
            return LedgerEntry(
                id: id, hash: LedgerSupport.hash(id), content: content, links: [UInt64(number)], feeds: 2)
        }.sorted { $0.hash < $1.hash }
    }

    static func view(
        _ memory: MemoryLedger, _ layers: [LedgerLayer], preloaded: PreloadedChunks = PreloadedChunks(),
        shape: LedgerShape = shape
    ) throws -> LedgerView {
        try LedgerView(
            source: memory, layers: layers, preloaded: preloaded, table: LedgerSupport.table, shape: shape,
            key: LedgerSupport.key)
    }

    @Test func `a few lookups read one chunk each`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(20_000)
        await memory.add(LedgerSupport.chunks(entries, shape: Self.shape, maximumBytes: 4_096), to: Self.base)
        var view = try Self.view(memory, [Self.base])
        for place in stride(from: 100, to: 20_000, by: 2_000) {
            #expect(try await view.seek(to: entries[place].hash))
            #expect(view.entry == entries[place])
            let missing = IDHash(low: entries[place].hash.low &+ 1, high: entries[place].hash.high)
            #expect(try await !view.seek(to: missing))
            #expect(!view.isAtEntry && view.state == .unknown && view.layer == nil)
        }
        // A missing id at a chunk's border costs another one.
        #expect(await memory.chunksRead <= 13)
        #expect(await memory.walks == 0)
    }

    @Test func `what a delta tells is not looked for in the base`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(5_000)
        let changed = entries.enumerated().filter { $0.offset % 700 == 0 }.map { entry in
            var entry = entry.element
            entry.content = 2
            return entry
        }
        await memory.add(LedgerSupport.chunks(entries, shape: Self.shape), to: Self.base)
        let small = LedgerSupport.chunks(changed, shape: Self.shape)
        var view = try Self.view(memory, [Self.delta, Self.base], preloaded: PreloadedChunks([(Self.delta, small)]))
        for entry in changed {
            #expect(try await view.seek(to: entry.hash))
            #expect(view.content == 2 && view.layer == Self.delta.id)
        }
        #expect(await memory.chunksRead == 0)
        #expect(try await view.next())
        #expect(view.layer == Self.base.id)
        #expect(view.entry == entries.first { changed[changed.count - 1].hash < $0.hash })
    }

    @Test func `many lookups read the chunks in a row, each once`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(20_000)
        let chunks = LedgerSupport.chunks(entries, shape: Self.shape, maximumBytes: 4_096)
        await memory.add(chunks, to: Self.base)
        var view = try Self.view(memory, [Self.base])
        for place in stride(from: 0, to: 20_000, by: 11) { #expect(try await view.seek(to: entries[place].hash)) }
        #expect(await memory.chunksRead <= chunks.count + 2)
        #expect(await memory.walks + memory.lookups <= chunks.count / 16 + 8)
    }

    @Test func `a walk reads many chunks at once`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(20_000)
        let chunks = LedgerSupport.chunks(entries, shape: Self.shape, maximumBytes: 4_096)
        await memory.add(chunks, to: Self.base)
        var view = try Self.view(memory, [Self.base])
        var count = 0
        while try await view.next() { count += 1 }
        #expect(count == 20_000)
        #expect(try await !view.next())
        #expect(await memory.chunksRead == chunks.count)
        #expect(await memory.walks <= chunks.count / 16 + 5)
        #expect(await memory.lookups == 0)
    }

    @Test func `a table that a layer does not have costs two reads, however many ids are looked for`() async throws {
        let memory = MemoryLedger()
        var view = try Self.view(memory, [Self.base])
        for entry in Self.entries(100) { #expect(try await !view.seek(to: entry.hash)) }
        #expect(try await !view.next())
        #expect(await memory.lookups + memory.walks == 2)
    }

    @Test func `an id before the first chunk is not there, and a walk goes on with the first`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(50)
        await memory.add(LedgerSupport.chunks(Array(entries.dropFirst(10)), shape: Self.shape), to: Self.base)
        var view = try Self.view(memory, [Self.base])
        for entry in entries.prefix(9) { #expect(try await !view.seek(to: entry.hash)) }
        #expect(try await view.next())
        #expect(view.entry == entries[10])
    }

    @Test func `the place that was looked for can be looked for again`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(10)
        await memory.add(LedgerSupport.chunks(entries, shape: Self.shape), to: Self.base)
        var view = try Self.view(memory, [Self.base])
        #expect(try await view.next())
        #expect(try await view.seek(to: entries[0].hash))
        #expect(view.entry == entries[0])
        let missing = IDHash(low: entries[0].hash.low &+ 1, high: entries[0].hash.high)
        #expect(try await !view.seek(to: missing))
        #expect(try await !view.seek(to: missing))
        #expect(try await view.next())
        #expect(view.entry == entries[1])
    }

    @Test func `entries of another shape have no links and feeds`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(10)
        await memory.add(LedgerSupport.chunks(entries, shape: Self.shape), to: Self.base)
        for shape in [LedgerShape(links: 1, feeds: 2, tag: 1), LedgerShape(links: 2, feeds: 2)] {
            var view = try Self.view(memory, [Self.base], shape: shape)
            var count = 0
            while try await view.next() {
                #expect(view.link(0) == 0 && view.feeds == 0 && view.content == 1)
                #expect(view.entry?.links == Array(repeating: 0, count: shape.links))
                count += 1
            }
            #expect(count == 10)
        }
    }

    @Test func `an entry goes from a view into a new layer`() async throws {
        let memory = MemoryLedger()
        let entries = Self.entries(40)
        let chunks = LedgerSupport.chunks(entries, shape: Self.shape)
        await memory.add(chunks, to: Self.base)
        var view = try Self.view(memory, [Self.base])
        var writer = LedgerChunkWriter(table: LedgerSupport.table, shape: Self.shape)
        while try await view.next() { view.append(to: &writer) }
        let rest = writer.takeRest()
        #expect(rest == chunks[0])
    }

    @Test func `going back is a mistake of ours`() async {
        await #expect(processExitsWith: .failure) {
            var view = try LedgerView(
                source: MemoryLedger(), layers: [], table: "t", shape: LedgerShape(links: 0, feeds: 1),
                key: SipHash.Key(1, 1))
            _ = try await view.seek(to: IDHash(low: 0, high: 2))
            _ = try await view.seek(to: IDHash(low: 0, high: 1))
        }
    }

    /// What two devices' ledgers say about one id, and what that comes to.
    static let unions: [(LedgerState?, LedgerState?, LedgerState?)] = [
        (.held, .held, .held), (.seen, .held, .held), (.held, .seen, .held), (.tombstone, .held, .held),
        (.held, .tombstone, .held),
        (.tombstone, .seen, .tombstone), (.seen, .tombstone, .tombstone), (.unknown, .held, .held),
        (.held, .unknown, .held),
        (.unknown, .seen, .seen), (nil, .held, .held), (.tombstone, nil, .tombstone), (.unknown, nil, nil),
        (.unknown, .unknown, nil),
    ]

    @Test(arguments: unions)
    func `what any device holds counts, whichever ledger is first`(
        _ first: LedgerState?, _ second: LedgerState?, _ expected: LedgerState?
    ) async throws {
        let memory = MemoryLedger()
        var entries = Self.entries(60)
        for place in entries.indices { entries[place].content = 7 }
        let target = entries[30].hash
        func layer(_ state: LedgerState?, _ feeds: FeedSet, _ places: StrideTo<Int>) -> [LedgerChunk] {
            var chosen = places.map { entries[$0] }
            if let state {
                var entry = entries[30]
                (entry.state, entry.feeds, entry.goneAt) = (state, feeds, state == .tombstone ? 9 : 0)
                if state != .held { entry.content = nil }
                chosen.append(entry)
            }
            return LedgerSupport.chunks(chosen, shape: Self.shape, maximumBytes: 300)
        }
        // The one device's undo hides its own base and nobody else's.
        await memory.add(layer(first, 1, stride(from: 1, to: 30, by: 2)), to: Self.delta)
        await memory.add(layer(.held, 4, stride(from: 31, to: 60, by: 2)), to: Self.base)
        let other = LedgerLayer(77)
        await memory.add(layer(second, 2, stride(from: 0, to: 60, by: 4)), to: other)
        let isFirstKnown = first != nil
        let expected = isFirstKnown ? expected : .held
        func view() throws -> LedgerView {
            try LedgerView(
                source: memory, ledgers: [[Self.delta, Self.base], [other]], isUnion: true, table: LedgerSupport.table,
                shape: Self.shape, key: LedgerSupport.key)
        }
        var walking = try view()
        var walked: [IDHash] = []
        while try await walking.next() {
            #expect(walking.content == nil)
            if let position = walking.position { walked.append(position) }
            guard walking.position == target else { continue }
            #expect(walking.state == expected && walking.entry?.state == expected)
        }
        let known = stride(from: 0, to: 60, by: 1).filter { $0 % 2 == 1 || $0 % 4 == 0 || $0 == 30 && expected != nil }
        #expect(walked == known.map { entries[$0].hash })
        for place in entries.indices {
            var seeking = try view()
            #expect(try await seeking.seek(to: entries[place].hash) == known.contains(place))
            #expect(seeking.content == nil && (place != 30 || seeking.state == expected ?? .unknown))
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a default that any device holds counts, walking and seeking`(first: Bool, second: Bool) async throws {
        let memory = MemoryLedger()
        for (number, isDefaulted) in [first, second].enumerated() {
            var entries = Self.entries(3)
            entries[1].isDefaulted = isDefaulted
            await memory.add(
                LedgerSupport.chunks(entries, shape: Self.shape), to: LedgerLayer(Int64(number + 1)))
        }
        func view() throws -> LedgerView {
            try LedgerView(
                source: memory, ledgers: [[LedgerLayer(1)], [LedgerLayer(2)]], isUnion: true,
                table: LedgerSupport.table, shape: Self.shape, key: LedgerSupport.key)
        }
        let target = Self.entries(3)[1].hash
        var (walking, seeking) = (try view(), try view())
        while try await walking.next() {
            #expect(walking.isDefaulted == (walking.position == target && (first || second)))
        }
        #expect(try await seeking.seek(to: target))
        #expect(seeking.isDefaulted == (first || second) && seeking.entry?.isDefaulted == seeking.isDefaulted)
    }

    @Test func `the feeds of all devices count together, unless one does not know them`() async throws {
        let shape = LedgerShape(links: 0, feeds: 3)
        for (feeds, expected) in [([1, 2], 3), ([1, 0], 0), ([0, 4], 0), ([4, 1], 5)] as [([FeedSet], FeedSet)] {
            let memory = MemoryLedger()
            for (place, known) in feeds.enumerated() {
                var entry = Self.entries(1)[0]
                (entry.feeds, entry.links) = (known, [])
                await memory.add(
                    LedgerSupport.chunks([entry], shape: shape), to: LedgerLayer(Int64(place + 1)))
            }
            var view = try LedgerView(
                source: memory, ledgers: [[LedgerLayer(1)], [LedgerLayer(2)]], isUnion: true,
                table: LedgerSupport.table, shape: shape, key: LedgerSupport.key)
            #expect(try await view.next() && view.feeds == expected)
        }
    }
}
