// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel
import Testing

/// A replica's ledger as a store keeps it, beside what each of its cursors ought to see.
struct LedgerModel {
    typealias Contents = [String: [String: LedgerEntry]]

    struct Node {
        var contents: Contents
        var delta: LedgerLayer?
        /// One for each compaction that has brought the delta into the base, the oldest first.
        var undos: [LedgerLayer] = []
    }

    static let tables = [
        (name: "tasks", shape: LedgerShape(links: 1, feeds: 3)), ("tags", LedgerShape(links: 0, feeds: 1)),
    ]

    let memory = MemoryLedger()
    let base = LedgerLayer(1)
    var random: SeededGenerator
    var lastLayer: Int64 = 1
    /// The line, oldest first, and cursors beside it with the place of their parent.
    var line: [Node] = []
    var siblings: [(parent: Int, node: Node)] = []
    var compacted = 0
    var counts: [String: LedgerCount] = [:]
    let ids: [String]
    let hashes: [IDHash]
    let chunkBytes: Int
    let readAhead: Int

    init(seed: UInt64) async {
        random = SeededGenerator(seed: seed)
        chunkBytes = Int.random(in: 60...500, using: &random)
        readAhead = Int.random(in: 1...5, using: &random)
        var ids: Set<String> = []
        let count = Int.random(in: 1...120, using: &random)
        while ids.count < count { ids.insert(LedgerSupport.randomID(&random)) }
        self.ids = ids.sorted()
        hashes = ids.map(LedgerSupport.hash).sorted()
        var contents: Contents = [:]
        for (table, shape) in Self.tables where Int.random(in: 0..<5, using: &random) > 0 {
            contents[table] = [:]
            for id in self.ids where Bool.random(using: &random) {
                contents[table]?[id] = LedgerSupport.randomEntry(id, shape: shape, &random)
            }
        }
        line = [Node(contents: contents)]
        await write(contents, to: base)
        for (table, _) in Self.tables { counts[table] = await measured(table) }
    }

    /// A cursor that follows `parent`.
    mutating func child(of parent: Node) async -> Node {
        var node = Node(contents: parent.contents)
        var changes: Contents = [:]
        let share = [0, 1, 5, 30, 100][Int.random(in: 0..<5, using: &random)]
        for (table, shape) in Self.tables {
            for id in ids where Int.random(in: 0..<100, using: &random) < share {
                var entry = LedgerSupport.randomEntry(id, shape: shape, &random)
                if Int.random(in: 0..<20, using: &random) == 0 {
                    entry = LedgerEntry(id: id, hash: entry.hash, state: .unknown)
                }
                changes[table, default: [:]][id] = entry
                node.contents[table, default: [:]][id] = entry.state == .unknown ? nil : entry
            }
        }
        if !changes.isEmpty {
            node.delta = newLayer()
            if let delta = node.delta { await write(changes, to: delta) }
        }
        return node
    }

    mutating func newLayer() -> LedgerLayer {
        lastLayer += 1
        return LedgerLayer(lastLayer)
    }

    func write(_ contents: Contents, to layer: LedgerLayer) async {
        for (table, shape) in Self.tables {
            let entries = Array((contents[table] ?? [:]).values)
            await memory.add(
                LedgerSupport.chunks(entries, table: table, shape: shape, maximumBytes: chunkBytes), to: layer)
        }
    }

    func measured(_ table: String) async -> LedgerCount {
        let chunks = await memory.stored(base, table).map(\.chunk)
        let held = chunks.flatMap { (try? LedgerSupport.entries($0.bytes)) ?? [] }.count { $0.state == .held }
        return LedgerCount(
            held: held, entries: chunks.reduce(0) { $0 + $1.entries }, bytes: chunks.reduce(0) { $0 + $1.bytes.count })
    }

    /// What a place of the line is seen through.
    func layers(of place: Int) -> [LedgerLayer] {
        let deltas = place > compacted ? line[(compacted + 1)...place].reversed().compactMap(\.delta) : []
        let undos = line[(min(place, compacted) + 1)...].flatMap(\.undos)
        return deltas + undos + [base]
    }

    /// Compares every cursor with what it ought to see.
    mutating func check(_ context: String) async throws {
        for place in line.indices {
            try await check(line[place], through: layers(of: place), "\(context), place \(place) of \(line.count)")
        }
        for sibling in siblings {
            let layers = [sibling.node.delta].compactMap { $0 } + layers(of: sibling.parent)
            try await check(sibling.node, through: layers, "\(context), beside \(sibling.parent)")
        }
    }

    mutating func check(_ node: Node, through layers: [LedgerLayer], _ context: String) async throws {
        var preloaded: [(LedgerLayer, [LedgerChunk])] = []
        for layer in layers where Bool.random(using: &random) {
            preloaded.append((layer, await memory.chunks(of: layer)))
        }
        for (table, shape) in Self.tables {
            var view = try LedgerView(
                source: memory, layers: layers, preloaded: PreloadedChunks(preloaded), table: table, shape: shape,
                key: LedgerSupport.key, readAhead: readAhead)
            let expected = (node.contents[table] ?? [:]).values.sorted { $0.hash < $1.hash }
            try await walk(&view, expected, "\(context), \(table)")
        }
    }

    /// Walks through a view by steps and leaps.
    mutating func walk(_ view: inout LedgerView, _ expected: [LedgerEntry], _ context: String) async throws {
        let leaps = [0, 0, 2, 10][Int.random(in: 0..<4, using: &random)]
        var rest = expected[...]
        while true {
            if Int.random(in: 0..<10, using: &random) < leaps {
                let ahead = hashes.drop { hash in view.position.map { !($0 < hash) } ?? false }.prefix(20)
                guard let target = ahead.randomElement(using: &random) else { break }
                rest = rest.drop { $0.hash < target }
                let isThere = try await view.seek(to: target)
                #expect(isThere == (rest.first?.hash == target), "\(context)")
                guard isThere else {
                    #expect(view.entry == nil && !view.isAtEntry, "\(context)")
                    continue
                }
            } else if try await !view.next() {
                #expect(rest.isEmpty && view.entry == nil, "\(context)")
                break
            }
            let entry = rest.popFirst()
            #expect(view.entry == entry, "\(context)")
            guard view.entry == entry else { return }
        }
    }
}

extension LedgerModel {
    /// Brings the line into the base; may stop anywhere, as if the gateway had been stopped.
    mutating func compact(_ context: String) async throws {
        let tip = line.count - 1
        let places = (compacted + 1..<line.count).reversed().filter { line[$0].delta != nil }
        var settings = LedgerCompaction.Settings()
        settings.chunkBytes = chunkBytes
        settings.batchChunks = Int.random(in: 1...6, using: &random)
        settings.readAhead = readAhead
        var compaction = LedgerCompaction(
            source: memory, base: base,
            deltas: places.compactMap { line[$0].delta },
            tables: Self.tables, key: LedgerSupport.key, settings: settings)
        var batches: [LedgerCompactionBatch] = []
        while let batch = try await compaction.nextBatch() {
            #expect(batch.removed.count <= settings.batchChunks, "\(context)")
            // The longest entries have about 280 bytes.
            #expect(batch.added.allSatisfy { $0.bytes.count <= max(chunkBytes, 320) }, "\(context)")
            batches.append(batch)
            if Int.random(in: 0..<8, using: &random) == 0 { return }
        }
        #expect(batches.map(\.isLast) == batches.indices.map { $0 == batches.count - 1 }, "\(context)")
        // They take effect together.
        for batch in batches {
            let removed = await memory.remove(batch.removed, from: base)
            #expect(removed == batch.removed.count, "\(context)")
            await memory.add(batch.added, to: base)
            for place in places {
                guard let delta = line[place].delta, let chunks = batch.undo[delta.cursor] else { continue }
                if line[place].undos.isEmpty { line[place].undos.append(newLayer()) }
                if let undo = line[place].undos.last { await memory.add(chunks, to: undo) }
            }
            for (table, count) in batch.counts {
                counts[table]?.held += count.held
                counts[table]?.entries += count.entries
                counts[table]?.bytes += count.bytes
            }
        }
        for place in places {
            if let delta = line[place].delta { await memory.remove(delta) }
            line[place].delta = nil
        }
        compacted = tip
        for (table, _) in Self.tables { #expect(await measured(table) == counts[table], "\(context)") }
        try await check("\(context), compacting")
    }
}
