// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// Entries of a test: a number for each id; 0 in an undo says that the id was not there.
typealias Entries = [UInt8: UInt8]

/// Entries of these ids, all of the same number.
func ones(_ ids: ClosedRange<UInt8>) -> Entries { Entries(uniqueKeysWithValues: ids.map { ($0, 1) }) }

/// The ledger's structure in small: chunks of at most four entries, in the order of the ids.
enum TestLedger {
    static let table = "tasks"

    static func hash(_ id: UInt8) -> IDHash { IDHash(low: 7, high: UInt64(id)) }

    /// Chunks of entries, each entry two bytes.
    static func chunks(_ entries: Entries, table: String = table) -> [LedgerChunk] {
        let pairs = entries.sorted { $0.key < $1.key }
        return stride(from: 0, to: pairs.count, by: 4).map { start in
            let part = pairs[start..<min(start + 4, pairs.count)]
            return LedgerChunk(
                table: table, first: hash(part[part.startIndex].key), entries: part.count,
                bytes: part.flatMap { [$0.key, $0.value] })
        }
    }

    static func entries(_ chunk: LedgerChunk) -> Entries {
        var entries: Entries = [:]
        for index in stride(from: 0, to: chunk.bytes.count, by: 2) {
            entries[chunk.bytes[index]] = chunk.bytes[index + 1]
        }
        return entries
    }

    static func commit(_ entries: Entries) -> LedgerCommit {
        .chunks(chunks(entries), counts: count(entries))
    }

    static func count(_ entries: Entries) -> [String: LedgerCount] {
        entries.isEmpty
            ? [:] : [table: LedgerCount(held: entries.count, entries: entries.count, bytes: entries.count * 2)]
    }
}

extension Accounts {
    /// The first pull of a new replica, with a ledger.
    func begin(_ row: CursorRow, _ ledger: LedgerCommit) async throws {
        try await commit(PullCommit(row: row, replica: .new, now: now, ledger: ledger))
    }

    /// The first pull of a new replica, which brings these.
    func begin(_ row: CursorRow, _ entries: Entries) async throws {
        try await begin(row, TestLedger.commit(entries))
    }

    /// A replica with the cursors 100, 200 and so on, which bring these, and whose device has come back with the last.
    func line(_ pulls: Entries...) async throws {
        for (index, entries) in pulls.enumerated() {
            let value = Int64(index + 1) * 100
            try await index == 0 ? begin(row(value), entries) : proceed(row(value, parent: value - 100), entries)
        }
        try await confirm(Int64(pulls.count) * 100)
    }

    /// A later pull, which presents the parent first.
    func proceed(_ row: CursorRow, _ ledger: LedgerCommit) async throws {
        if let parent = row.parent { try await confirm(parent.rawValue, of: row.principal) }
        try await commit(PullCommit(row: row, replica: .existing, now: now, ledger: ledger))
    }

    /// A later pull that adds these.
    func proceed(_ row: CursorRow, _ entries: Entries) async throws {
        try await proceed(row, TestLedger.commit(entries))
    }

    /// The ledger as a cursor sees it.
    func outline(_ value: Int64, of principal: Principal = alice) async throws -> LedgerOutline {
        try #require(try await context(value, of: principal).ledger)
    }

    /// What an outline says: the first layer that has an id decides.
    func view(_ outline: LedgerOutline) async throws -> Entries {
        var view: Entries = [:]
        for layer in outline.layers {
            do {
                let chunks = try await chunkReader.chunks(after: nil, in: TestLedger.table, of: layer, limit: 1_000)
                for stored in chunks { view.merge(TestLedger.entries(stored.chunk)) { first, _ in first } }
            } catch StateError.ledgerChanged {
                // Its chunks are gone; some stores say so, others have none.
            }
        }
        return view.filter { $0.value != 0 }
    }

    /// What a cursor's ledger says.
    func view(_ value: Int64, of principal: Principal = alice) async throws -> Entries {
        try await view(outline(value, of: principal))
    }

    /// Compacts all deltas of an outline into the base, at most two base chunks a step.
    ///
    /// - Parameters:
    ///   - outline: The ledger at the cursor.
    ///   - cursors: The cursors of the deltas, in the same order.
    ///   - finished: The cursor up to which all is in the base afterwards.
    ///   - principal: Its owner.
    ///   - steps: After how many steps it is interrupted.
    ///   - check: Runs after each step.
    /// - Returns: Whether it came to its end.
    /// - Throws: What the store or the check throws.
    @discardableResult
    func compact(
        _ outline: LedgerOutline, _ cursors: [Int64], finished: Int64, of principal: Principal = alice,
        steps: Int = .max, check: () async throws -> Void = {}
    ) async throws -> Bool {
        let base = try #require(outline.base)
        var deltas: [(Cursor, Entries)] = []
        for (layer, value) in zip(outline.deltas, cursors).reversed() {
            let chunks = try await chunkReader.chunks(after: nil, in: TestLedger.table, of: layer, limit: 1_000)
            deltas.append(
                (try cursor(value), chunks.reduce(into: [:]) { $0.merge(TestLedger.entries($1.chunk)) { $1 } }))
        }
        var merge = try #require(LedgerMerge(of: outline, upTo: try cursor(finished)))
        var chunks = try await chunkReader.chunks(after: nil, in: TestLedger.table, of: base, limit: 1_000)[...]
        var begin: UInt8 = 0
        var done = 0
        while true {
            guard done < steps else { return false }
            let part = chunks.prefix(2)
            chunks = chunks.dropFirst(2)
            let end = chunks.first.map { UInt8($0.chunk.first.high) } ?? .max
            var compaction = LedgerCompactionBatch()
            let old = part.reduce(into: Entries()) { $0.merge(TestLedger.entries($1.chunk)) { $1 } }
            var new = old
            for (cursor, delta) in deltas {
                let changed = delta.filter { (begin..<end).contains($0.key) }
                compaction.undo[cursor] = TestLedger.chunks(
                    Entries(uniqueKeysWithValues: changed.map { ($0.key, new[$0.key] ?? 0) }))
                new.merge(changed) { $1 }
            }
            compaction.removed = part.map(\.number)
            compaction.added = TestLedger.chunks(new)
            let grown = new.count - old.count
            compaction.counts = [TestLedger.table: LedgerCount(held: grown, entries: grown, bytes: grown * 2)]
            compaction.isLast = chunks.isEmpty
            merge = try await change(principal) { [merge] in
                try LedgerRules.compact(compaction, of: merge, at: now, in: &$0)
            }
            try await check()
            done += 1
            if chunks.isEmpty { return true }
            begin = end
        }
    }
}
