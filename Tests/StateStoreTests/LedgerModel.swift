// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// Random pulls, forks, compactions and collections beside a dictionary that says what each cursor's device holds.
struct LedgerModel {
    /// One cursor as the model has it.
    struct Node {
        var replica: Int64
        var parent: Int64?
        /// What the device holds, deletions as 255.
        var truth: Entries
        /// Whether its pull was made without a ledger.
        var isBlind = false
        var hasDelta = false
    }

    let store: Accounts
    private var random: SeededGenerator
    private var nodes: [Int64: Node] = [:]
    private var tips: [Int64: Int64] = [:]
    private var newest: Int64 = 0
    private(set) var compactions = 0
    private(set) var interruptions = 0

    init(store: Accounts, seed: UInt64) {
        self.store = store
        random = SeededGenerator(seed: seed)
    }

    /// One random step, after which some cursors are looked at.
    mutating func step() async throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: try await pull(presented: nil)
        case 1: try await pull(presented: nodes.keys.sorted().randomElement(using: &random))
        case 2...4: try await compact()
        case 5: try await collect()
        default: try await pull(presented: presentable())
        }
        try await check(sample(8))
    }

    private mutating func sample(_ count: Int) -> [Int64] {
        Array(nodes.keys.sorted().shuffled(using: &random).prefix(count))
    }

    /// A cursor with which a replica goes on: mostly the newest answer, at times the one before.
    private mutating func presentable() -> Int64? {
        guard let replica = Set(nodes.values.map(\.replica)).sorted().randomElement(using: &random) else { return nil }
        let going = nodes.filter { cursor, node in
            node.replica == replica && (tips[replica] == nil || cursor == tips[replica] || node.parent == tips[replica])
        }.keys.sorted()
        return Bool.random(using: &random) ? going.last : going.randomElement(using: &random)
    }

    private mutating func changes() -> Entries {
        guard Int.random(in: 0..<6, using: &random) > 0 else { return [:] }
        let count = Int.random(in: 1...(Int.random(in: 0..<8, using: &random) == 0 ? 40 : 6), using: &random)
        return (0..<count).reduce(into: [:]) { changes, _ in
            changes[.random(in: 1...60, using: &random)] = .random(in: 1...255, using: &random)
        }
    }

    private mutating func pull(presented: Int64?) async throws {
        newest += 1
        let changes = changes()
        guard let presented, let old = nodes[presented] else {
            nodes[newest] = Node(replica: newest, parent: nil, truth: changes)
            return try await store.begin(row(newest, replica: newest), changes)
        }
        let context = try await store.context(presented)
        // Without an outline its row was collected.
        guard let outline = context.ledger else { return }
        try await store.confirm(presented)
        var node = Node(replica: old.replica, parent: presented, truth: old.truth.merging(changes) { $1 })
        if context.isFork {
            node.replica = newest
            nodes[newest] = node
            return try await store.begin(row(newest, replica: newest, parent: presented), node.truth)
        }
        tips[old.replica] = presented
        let row = try row(newest, replica: old.replica, parent: presented)
        guard Int.random(in: 0..<12, using: &random) > 0 else {
            node.isBlind = true
            nodes[newest] = node
            return try await store.proceed(row, LedgerCommit.none)
        }
        var entries = changes
        if !outline.isExact {
            // Everything was streamed; what is known and did not come was deleted.
            for id in try await store.view(outline).keys where node.truth[id] == nil { node.truth[id] = 255 }
            entries = node.truth
        }
        node.hasDelta = !entries.isEmpty && outline.base != nil
        nodes[newest] = node
        try await store.commit(
            PullCommit(
                row: row, replica: .existing, now: now, ledger: TestLedger.commit(entries),
                ledgersRead: [outline.replica: outline.version]))
    }

    /// Compacts a replica at its tip, as often as not only for some steps.
    private mutating func compact() async throws {
        guard let (replica, tip) = tips.sorted(by: { $0.key < $1.key }).randomElement(using: &random),
            let outline = try await store.read(
                alice, { try $0.replica(ReplicaID(rawValue: replica)).map { $0.outline(at: $0.tip ?? $0.newest) } }),
            outline.base != nil
        else { return }
        var cursors: [Int64] = []
        var next: Int64? = tip
        while let cursor = next, cursors.count < outline.deltas.count, let node = nodes[cursor] {
            if node.hasDelta { cursors.append(cursor) }
            next = node.parent
        }
        try #require(cursors.count == outline.deltas.count)
        let steps = Bool.random(using: &random) ? Int.random(in: 1...4, using: &random) : .max
        let (model, sample) = (self, sample(5))
        let isFinished = try await store.compact(outline, cursors, finished: tip, steps: steps) {
            try await model.check(sample)
        }
        compactions += 1
        interruptions += isFinished ? 0 : 1
    }

    private mutating func collect() async throws {
        var retention = Retention(now: now, seenBefore: 0)
        retention.undoBefore = Instant(milliseconds: newest) - Int64.random(in: 3...20, using: &random)
        retention.supersededBefore = retention.undoBefore - Int64.random(in: 0...10, using: &random)
        _ = try await store.collect(retention)
    }

    /// Whether a replica has come to its tip over a cursor, and not past it.
    private func isOnLine(_ cursor: Int64, _ node: Node) -> Bool {
        var next = tips[node.replica]
        while let current = next, current > cursor { next = nodes[current]?.parent }
        return next == cursor
    }

    /// Every exact cursor says what the device holds, and every other one of the line no less.
    func check(_ cursors: [Int64]? = nil) async throws {
        for (cursor, node) in nodes where cursors?.contains(cursor) ?? true {
            guard let outline = try await store.context(cursor).ledger else { continue }
            let isGoing = cursor == tips[node.replica] || tips[node.replica] == nil || node.parent == tips[node.replica]
            let view = try await store.view(outline)
            if outline.isExact {
                #expect(view == node.truth, "cursor \(cursor)")
                #expect(!node.isBlind)
            } else {
                #expect(!isGoing || node.isBlind, "cursor \(cursor)")
                #expect(
                    node.isBlind || !isOnLine(cursor, node) || node.truth.keys.allSatisfy { view[$0] != nil },
                    "cursor \(cursor)")
            }
        }
    }
}
