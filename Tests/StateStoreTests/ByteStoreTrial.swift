// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import MemoryState
import StateStore
import SyncModel
import Testing

/// Makes the same random changes in the dictionary and in another store of bytes, and compares what they answer.
struct ByteStoreTrial {
    private static let owners: [Int64] = [.min, -1, 0, 7, .max]
    private static let kinds: [RowKind] = [.note, .mapping, .journal, .push, .trouble, .owed, .meta]

    private let reference = MemoryBytes()
    /// The store that is tried; one that has a copy of its rows may take its place.
    var other: any ByteStore
    private var random: SeededGenerator
    private var version: Int64 = 0
    private(set) var refusals = 0
    private(set) var operations = 0

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
        // The number of a replica or a cursor tells its owner.
        case 2...4:
            return RowKey(
                .replica, of: owner, number: number(1...4) * 10 + Int64(Self.owners.firstIndex(of: owner) ?? 0))
        default: return RowKey(try pick(Self.kinds), of: owner, bytes(upTo: 3))
        }
    }

    private mutating func row(_ key: RowKey) throws -> ByteRow {
        version += 1
        let isReplica = key.kind == .replica
        return ByteRow(
            key: key, version: version,
            number: isReplica ? Int64(keyBytes: key.key) : key.kind == .principal ? 0 : number(0...5),
            rank: number(0...5), bytes: bytes(upTo: 40))
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
            let cursor = RowKey(.cursor, of: try pick(Self.owners), number: number(1...30))
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

    private mutating func lookup() throws -> Lookup {
        let (owner, kind, limit) = (try pick(Self.owners), try pick(Self.kinds), Int(number(1...6)))
        let isDescending = number(0...1) == 0
        let mark = number(0...1) == 0 ? nil : Lookup.Mark(number(0...5), tie: number(0...5))
        switch number(0...9) {
        case 0: return .row(try key())
        case 1: return .replica(namedBy: RowKey(.cursor, of: owner, number: number(1...30)))
        case 2:
            return .rows(
                kind, of: owner, prefix: bytes(upTo: 2), after: number(0...1) == 0 ? nil : bytes(upTo: 3), limit: limit)
        case 3: return .all(kind, of: owner)
        case 4: return .all(.replica, of: owner)
        case 5: return .count(kind, of: owner, prefix: bytes(upTo: 1))
        case 6:
            return .all(.replica, by: try pick([.number, .rank]), after: mark, limit: limit, descending: isDescending)
        case 7: return .named(.replica, number(1...44))
        case 8: return .principals(min(owner, 7)...max(owner, 7), limit: limit)
        default: return .row(try pick([MetaKey.replicas.row, MetaKey.newestCursor.row]))
        }
    }

    /// Changes something in both and compares some answers.
    mutating func step() async throws {
        let changes = try await changes()
        let expected = try await reference.commit([OwnedChanges(owner: 0, changes: changes)])
        let found = try await other.commit([OwnedChanges(owner: 0, changes: changes)])
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
        operations += 1 + lookups.count
    }
}
