// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import MemoryState
import StateStore
import SyncModel
import Testing

/// Makes the same random changes in the dictionary and in another store of bytes, and compares what they answer.
struct ByteStoreTrial {
    private static let owners: [Int64] = [.min, -1, 0, 7, .max]
    private static let kinds: [RowKind] = [.note, .mapping, .journal, .push, .trouble, .loose, .owed, .meta]

    private let reference = MemoryBytes()
    /// The store that is tried; one that has a copy of its rows may take its place.
    var other: any ByteStore
    private var random: SeededGenerator
    private var version: Int64 = 0
    private(set) var refusals = 0

    init(_ other: any ByteStore, seed: UInt64) {
        self.other = other
        random = SeededGenerator(seed: seed)
    }

    private mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    private mutating func pick<T>(_ values: [T]) throws -> T { try #require(values.randomElement(using: &random)) }

    private mutating func bytes(upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in [0, 1, 127, 255].randomElement(using: &random) ?? 9 }
    }

    private mutating func key() throws -> RowKey {
        let owner = try pick(Self.owners)
        switch number(0...9) {
        case 0...1: return RowKey(.principal, of: owner)
        case 2...4: return numbered(.replica, of: owner)
        default: return RowKey(try pick(Self.kinds), of: owner, bytes(upTo: 3))
        }
    }

    /// The key of a replica or a cursor, whose number tells its owner.
    private mutating func numbered(_ kind: RowKind, of owner: Int64) -> RowKey {
        RowKey(kind, of: owner, number: number(1...4) * 10 + Int64(Self.owners.firstIndex(of: owner) ?? 0))
    }

    private mutating func row(_ key: RowKey) throws -> ByteRow {
        version += 1
        // No two rows of a kind have the same number, so that each order is one only.
        let number = key.kind == .replica ? Int64(keyBytes: key.key) : key.kind == .principal ? 0 : version
        return ByteRow(key: key, version: version, number: number, rank: self.number(0...5), bytes: bytes(upTo: 40))
    }

    private mutating func changes() async throws -> RowChanges {
        var changes = RowChanges()
        for _ in 0..<number(1...4) {
            let key = try key()
            let known = try await reference.load([.row(key)])[0].first
            if number(0...2) == 0 || key.kind == .principal || key.kind == .replica {
                changes.expected[key] = number(0...12) == 0 ? 99_999_999 : known?.version ?? 0
            }
            if number(0...4) > 0 { changes.rows[key] = number(0...5) == 0 ? .some(nil) : try row(key) }
        }
        if number(0...3) == 0 {
            let cursor = numbered(.cursor, of: try pick(Self.owners))
            changes.added = [ByteRow(key: cursor, number: Int64(keyBytes: cursor.key), rank: number(1...44))]
        }
        if number(0...3) == 0 {
            let line = RowKey(.line, of: 0, bytes(upTo: 2))
            changes.counted = [ByteRow(key: line, version: 5, number: 1, rank: number(-5...5), bytes: bytes(upTo: 9))]
        }
        if number(0...3) == 0 { changes.increments[MetaKey.replicas.row] = number(-2...2) }
        if number(0...3) == 0 { changes.floors[MetaKey.newestCursor.row] = number(0...1_000) }
        version += 1
        if number(0...2) == 0 { changes.chunks[version] = bytes(upTo: 5_000) }
        if number(0...3) == 0 { changes.freedChunks = [number(1...max(1, version - 1))] }
        changes.isDurable = number(0...3) > 0
        return changes
    }

    private mutating func mark(upTo greatest: Int64) -> Lookup.Mark? {
        number(0...1) == 0 ? nil : Lookup.Mark(number(0...greatest), tie: number(0...5))
    }

    private mutating func lookup() throws -> Lookup {
        let (owner, kind, limit) = (try pick(Self.owners), try pick(Self.kinds), Int(number(1...6)))
        let isDescending = number(0...1) == 0
        switch number(0...13) {
        case 0: return .row(try key())
        case 1: return .replica(namedBy: numbered(.cursor, of: owner))
        case 2:
            return .rows(
                kind, of: owner, prefix: bytes(upTo: 2), after: number(0...1) == 0 ? nil : bytes(upTo: 3), limit: limit)
        case 3: return .all(kind, of: owner)
        case 4: return .all(.replica, of: owner)
        case 5: return .count(kind, of: owner, prefix: bytes(upTo: 1))
        case 6:
            let order = try pick([Lookup.Order.number, .rank])
            return .all(.replica, by: order, after: mark(upTo: 5), limit: limit, descending: isDescending)
        case 7: return .named(.replica, number(1...44))
        case 8: return .principals(min(owner, 7)...max(owner, 7), limit: limit)
        case 9:
            let kind = try pick([RowKind.note, .mapping])
            return .numbered(kind, of: owner, after: number(0...version), limit: limit, descending: isDescending)
        case 10:
            let kind = try pick([RowKind.journal, .push, .trouble, .loose])
            return .all(kind, by: .number, after: mark(upTo: version), limit: limit, descending: isDescending)
        case 11: return .named(try pick([.journal, .push]), number(0...version))
        case 12: return .newestCursor
        default: return .row(try pick([MetaKey.replicas.row, MetaKey.newestCursor.row]))
        }
    }

    /// Changes something in both and compares some answers.
    mutating func step() async throws {
        let changes = try await changes()
        let expected = try await reference.commit([changes])
        let found = try await other.commit([changes])
        try #require(found == expected)
        if expected == [.refused] { refusals += 1 }
        let lookups = try (0..<4).map { _ in try lookup() }
        let (answers, others) = (try await reference.load(lookups), try await other.load(lookups))
        for (lookup, (answer, other)) in zip(lookups, zip(answers, others)) {
            try #require(other == answer, "\(lookup)")
        }
        let chunks = (0..<2).map { _ in number(1...max(1, version)) }
        let (bytes, otherBytes) = (try await reference.chunks(chunks), try await other.chunks(chunks))
        try #require(otherBytes == bytes)
    }

    /// Compares a page of each table.
    mutating func comparePages() async throws {
        for table in ByteTableName.allCases {
            let owner = try pick(Self.owners)
            let key =
                switch table {
                case .principal: RowKey(.principal, of: owner)
                case .replica: numbered(.replica, of: owner)
                case .cursor: numbered(.cursor, of: owner)
                case .entry: RowKey(try pick(Self.kinds), of: owner, bytes(upTo: 3))
                case .chunk: RowKey(.chunk, of: 0, number: number(0...version))
                }
            let (after, limit) = (number(0...2) == 0 ? nil : key, Int(number(1...20)))
            let expected = try await reference.page(of: table, after: after, limit: limit)
            let found = try await other.page(of: table, after: after, limit: limit)
            try #require(found == expected, "\(table) after \(String(describing: after))")
        }
    }
}
