// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// All rows and chunks of a state, in dictionaries.
struct ByteTable: Sendable {
    private struct Part: Hashable {
        var owner: Int64
        var kind: RowKind
    }

    private var parts: [Part: [RowKey: ByteRow]] = [:]
    private var chunks: [Int64: [UInt8]] = [:]
    private var numbers: [RowKind: Int64] = [:]
    var leases = LeaseTable()
    var commits: Int64 = 0

    subscript(key: RowKey) -> ByteRow? { parts[Part(owner: key.owner, kind: key.kind)]?[key] }

    func chunk(_ number: Int64) -> [UInt8]? { chunks[number] }

    mutating func reserve(_ kind: RowKind, count: Int) -> [Int64] {
        let first = numbers[kind, default: 0] + 1
        numbers[kind] = first + Int64(count) - 1
        return Array(first..<first + Int64(count))
    }

    func rows(of lookup: Lookup) -> [ByteRow] {
        switch lookup {
        case .row(let key): return self[key].map { [$0] } ?? []
        case .replica(let key):
            guard let cursor = self[key] else { return [] }
            return [cursor] + [self[RowKey(.replica, of: key.owner, number: cursor.rank)]].compactMap { $0 }
        case .rows(let kind, let owner, let prefix, let after, let limit):
            let rows = part(kind, owner).filter { row in
                row.key.key.starts(with: prefix) && after.map { $0.lexicographicallyPrecedes(row.key.key) } ?? true
            }
            return Array(rows.sorted { $0.key < $1.key }.prefix(limit))
        case .count(let kind, let owner, let prefix):
            let count = part(kind, owner).count { $0.key.key.starts(with: prefix) }
            return [ByteRow(key: RowKey(kind, of: owner), number: Int64(count))]
        case .numbered(let kind, let owner, let after, let limit, let descending):
            let rows = part(kind, owner).filter { $0.number > after }
            let sorted = rows.sorted { descending ? $0.number > $1.number : $0.number < $1.number }
            return Array(sorted.prefix(limit))
        case .all(let kind, let order, let after, let limit, let descending):
            func mark(_ row: ByteRow) -> Lookup.Mark {
                order == .number ? Lookup.Mark(row.number, tie: row.rank) : Lookup.Mark(row.rank, tie: row.number)
            }
            let rows = all(kind).filter { row in
                after.map { descending ? mark(row) < $0 : $0 < mark(row) } ?? true
            }
            let sorted = rows.sorted { a, b in
                let (x, y) = (mark(a), mark(b))
                return x == y ? a.key < b.key : descending ? y < x : x < y
            }
            return Array(sorted.prefix(limit))
        case .named(let kind, let number): return all(kind).filter { $0.number == number }
        case .newestCursor: return Array(all(.cursor).sorted { $0.number > $1.number }.prefix(1))
        case .principals(let owners, let limit):
            let rows = all(.principal).filter { owners.contains($0.key.owner) }
            return Array(rows.sorted { $0.key < $1.key }.prefix(limit))
        }
    }

    func page(of table: ByteTableName, after key: RowKey?, limit: Int) -> [ByteRow] {
        let rows =
            table == .chunk
            ? chunks.map { ByteRow(key: RowKey(.chunk, of: 0, number: $0.key), number: $0.key, bytes: $0.value) }
            : parts.filter { $0.key.kind.table == table }.flatMap(\.value.values)
        return Array(rows.sorted { $0.key < $1.key }.filter { row in key.map { $0 < row.key } ?? true }.prefix(limit))
    }

    private func part(_ kind: RowKind, _ owner: Int64) -> some Collection<ByteRow> {
        (parts[Part(owner: owner, kind: kind)] ?? [:]).values
    }

    private func all(_ kind: RowKind) -> [ByteRow] { parts.filter { $0.key.kind == kind }.flatMap(\.value.values) }

    /// Makes changes if what they are based on is there.
    mutating func make(_ changes: RowChanges) -> CommitOutcome {
        if let lease = changes.lease, (try? leases.check(lease)) == nil { return .leaseLost }
        guard changes.expected.allSatisfy({ self[$0.key]?.version ?? 0 == $0.value }),
            changes.added.allSatisfy({ self[$0.key] == nil }), changes.chunks.keys.allSatisfy({ chunks[$0] == nil }),
            !changes.rows.keys.contains(where: { changes.expected[$0] == 0 && $0.kind == .replica && hasReplica($0) })
        else { return .refused }
        for (key, row) in changes.rows { put(row, at: key) }
        for row in changes.added { put(row, at: row.key) }
        for row in changes.counted { count(row) }
        for (key, amount) in changes.increments {
            let known = self[key]?.number ?? 0
            put(ByteRow(key: key, number: known + amount), at: key)
        }
        for (key, floor) in changes.floors {
            let known = self[key]?.number ?? floor
            put(ByteRow(key: key, number: max(known, floor)), at: key)
        }
        chunks.merge(changes.chunks) { old, _ in old }
        for number in changes.freedChunks { chunks[number] = nil }
        if let lease = changes.lease, lease.isGivenBack { leases.giveBack(lease) }
        return .made
    }

    private func hasReplica(_ key: RowKey) -> Bool {
        parts.contains { $0.key.kind == .replica && $0.value[RowKey(.replica, of: $0.key.owner, key.key)] != nil }
    }

    private mutating func count(_ row: ByteRow) {
        var row = row
        if let known = self[row.key] {
            (row.version, row.number, row.rank) = (known.version + row.version, known.number, max(known.rank, row.rank))
        }
        put(row, at: row.key)
    }

    private mutating func put(_ row: ByteRow?, at key: RowKey) {
        let part = Part(owner: key.owner, kind: key.kind)
        parts[part, default: [:]][key] = row
        if parts[part]?.isEmpty == true { parts[part] = nil }
    }
}
