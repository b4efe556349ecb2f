// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Multiplies the replicas of a state: a million first syncs would take an hour.
///
/// The copies are those of one replica that has made its first sync: a principal, its sessions, a replica with its
/// cursors and its ledger each, with digests and numbers of their own.
///
/// The digests rise in several passes: in random order, five million copies would write each page a hundred times, and
/// in one pass they would leave no room in the pages, so that each sync of a newcomer would have to split some.
struct StateGrowth {
    /// The reasons why a state cannot be grown.
    enum Failure: Error, CustomStringConvertible {
        case noReplica

        var description: String { "the state has no replica with a ledger that could be multiplied" }
    }

    /// The number of replicas that one transaction adds.
    private static let batch = 2_000
    private static let passes = 8

    private let store: any ByteStore
    private let rows: [ByteRow]
    private let principal: PrincipalHead
    private let replica: ReplicaHead
    private let chunks: [[UInt8]]

    /// Creates the growth of a state that no gateway uses.
    init(_ store: any ByteStore) async throws {
        self.store = store
        let found = try await store.load([.all(.replica, by: .number, after: nil, limit: 100, descending: false)])[0]
        let models = found.compactMap { row in (try? ReplicaHead(decoding: row.bytes)).map { (row.key.owner, $0) } }
        guard let (owner, model) = models.first(where: { $0.1.ledger.base != nil && $0.1.cursors.count > 0 }) else {
            throw Failure.noReplica
        }
        replica = model
        let loaded = try await store.load([.row(RowKey(.principal, of: owner)), .all(.session, of: owner)])
        guard let head = loaded[0].first else { throw Failure.noReplica }
        principal = try PrincipalHead(decoding: head.bytes)
        rows = loaded[1]
        chunks = try await store.chunks(model.numbers).compactMap(\.self)
    }

    /// Adds replicas until there are `count`; returns the number that there are then.
    func grow(to count: Int) async throws -> Int {
        var present = Int(try await store.load([.row(MetaKey.replicas.row)])[0].first?.number ?? 0)
        guard present < count else { return present }
        let width = count / Self.passes + 1
        let distance = Int64.max / Int64(width * Self.passes)
        while present < count {
            let added = min(count - present, Self.batch)
            var changes = RowChanges()
            // Times are earlier by a millisecond for each principal, as if they had come one by one.
            for number in present..<present + added {
                let turn = number % width * Self.passes + number / width
                try add(Int64(number), at: Int64(turn) * distance, to: &changes)
            }
            changes.increments[MetaKey.replicas.row] = Int64(added)
            changes.increments[MetaKey.principals.row] = Int64(added)
            changes.isDurable = false
            _ = try await store.commit([changes])
            present += added
        }
        return present
    }

    /// Adds a copy whose digest begins with a position, and whose replica has the position for a number.
    private func add(_ number: Int64, at position: Int64, to changes: inout RowChanges) throws {
        let digits = ([UInt64(position) << 1] + (0..<3).map { _ in UInt64.random(in: 0...UInt64.max) }).map {
            let part = String($0, radix: 16)
            return String(repeating: "0", count: 16 - part.count) + part
        }
        var (principal, replica) = (principal, replica)
        principal.principal = Principal(rawValue: digits.joined())
        principal.lastSeen = principal.lastSeen - number
        let owner = principal.principal.owner
        replica.id = ReplicaID(rawValue: position + 1)
        replica.lastSeen = replica.lastSeen - number
        func earlier(_ cursor: Cursor?) -> Cursor? { cursor.flatMap { Cursor(rawValue: $0.rawValue - number) } }
        for index in replica.cursors.indices {
            let cursor = replica.cursors[index]
            replica.cursors[index].cursor = earlier(cursor.cursor) ?? cursor.cursor
            replica.cursors[index].parent = earlier(cursor.parent)
            replica.cursors[index].below = earlier(cursor.below)
        }
        replica.tip = earlier(replica.tip)
        replica.ledger.compacted = earlier(replica.ledger.compacted)
        var bytes = chunks[...]
        replica.renumber {
            let chunk = number * 1_000 + Int64(chunks.count - bytes.count)
            changes.chunks[chunk] = bytes.popFirst()
            return chunk
        }
        let version = Int64.random(in: 1...Int64.max)
        var added = rows.map { row in
            var row = row
            row.key.owner = owner
            return row
        }
        added.append(
            ByteRow(
                key: RowKey(.principal, of: owner), version: version,
                rank: principal.lastSeen.milliseconds / 86_400_000, bytes: try principal.encoded()))
        added.append(
            ByteRow(
                key: RowKey(.replica, of: owner, number: replica.id.rawValue), version: version,
                number: replica.id.rawValue, rank: replica.lastSeen.hour, bytes: try replica.encoded()))
        added += replica.cursors.map { cursor in
            let number = cursor.cursor.rawValue
            return ByteRow(
                key: RowKey(.cursor, of: owner, number: number), number: number, rank: replica.id.rawValue)
        }
        for row in added { changes.rows[row.key] = row }
    }
}

extension ReplicaHead {
    /// The numbers of the chunks of its base.
    fileprivate var numbers: [Int64] { ledger.base?.chunks.filter { $0.bytes == nil }.map(\.number) ?? [] }

    /// Gives the chunks of its base other numbers.
    fileprivate mutating func renumber(_ next: () -> Int64) {
        for index in ledger.base?.chunks.indices ?? 0..<0 where ledger.base?.chunks[index].bytes == nil {
            ledger.base?.chunks[index].number = next()
        }
    }
}
