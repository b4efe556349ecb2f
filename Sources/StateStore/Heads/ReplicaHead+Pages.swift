// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Cursors that their replica's head has no room for; they are not changed as long as the page is there.
struct CursorPage: Hashable, Coded {
    /// The number of the page; no other one has it.
    var number: Int64 = 0
    var cursors: [StoredCursor] = []
    /// The number of bytes of its row; 0 if it was not read.
    var size = 0

    mutating func code(with coder: inout Coder) throws(StateError) {
        try StoredCursor.code(&cursors, with: &coder)
    }

    func has(_ cursor: Cursor) -> Bool { cursors.index(of: cursor) != nil }
}

/// The cursors that their head does not know any more: they are older than its tip, and no delta that it needs is
/// theirs.
struct OlderCursors: Hashable, Coded {
    var count = 0
    /// The greatest number of notes that one of them has seen: later ones with an exact ledger have seen as many.
    var noted: Int64 = 0
    var ledgerBytes = 0

    mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&count, &noted, &ledgerBytes)
    }
}

/// A head is rewritten with each pull, so it has to stay small: cursors that are not likely to come back move into
/// pages.
///
/// The pages that a head names are read together with it. Those of older cursors are found by their last cursor; they
/// are in order, because the oldest cursors always go first.
extension ReplicaHead {
    /// The number of cursors that stay in the head whatever its size.
    private static let atHand = 4
    private static let pageCursors = 64

    func pageKey(_ owner: Int64, _ page: CursorPage) -> RowKey {
        RowKey(.recent, of: owner, id.rawValue.keyBytes + page.number.keyBytes)
    }

    func olderKey(_ owner: Int64, endingWith cursor: Cursor) -> RowKey {
        RowKey(.older, of: owner, id.rawValue.keyBytes + cursor.rawValue.keyBytes)
    }

    /// Returns the lookup of the pages of older cursors, beginning with the one that would have a cursor.
    func olderPages(_ owner: Int64, from cursor: Cursor? = nil, limit: Int = .max) -> Lookup {
        let prefix = id.rawValue.keyBytes
        return .rows(
            .older, of: owner, prefix: prefix, after: cursor.map { prefix + ($0.rawValue - 1).keyBytes }, limit: limit)
    }

    /// Returns the lookup of the pages that the head names; nil if it names none.
    package func pagesLookup(_ owner: Int64) -> Lookup? { pages.isEmpty ? nil : AccountView.pages(of: id, owner) }

    /// Takes the pages that the head names out of rows; returns false if one is not there.
    package mutating func take(pages rows: [ByteRow]) throws(StateError) -> Bool {
        guard !pages.isEmpty else { return true }
        let known = Dictionary(
            rows.filter { $0.key.kind == .recent }.map { ($0.key.key, $0.bytes) }, uniquingKeysWith: { $1 })
        for (index, page) in pages.enumerated() {
            guard let bytes = known[pageKey(0, page).key] else { return false }
            (pages[index].cursors, pages[index].size) = (try CursorPage(decoding: bytes).cursors, bytes.count)
        }
        try readCursors()
        insert(pages.flatMap(\.cursors))
        return true
    }

    /// Adds cursors that are not in the head.
    mutating func insert(_ others: [StoredCursor]) {
        let known = Set(cursors.map(\.cursor))
        cursors = (cursors + others.filter { !known.contains($0.cursor) }).sorted { $0.cursor < $1.cursor }
    }

    /// The cursors that no page has.
    var cursorsInHead: [StoredCursor] {
        guard !pages.isEmpty else { return cursors }
        var rest = cursors
        // Pages are few, and have their cursors in order.
        rest.removeAll { cursor in pages.contains { $0.has(cursor.cursor) } }
        return rest
    }

    /// Moves cursors into pages until the head is small.
    ///
    /// - Returns: The rows to write, nil for those to delete, and the head's bytes.
    mutating func makePages(
        of owner: Int64, limits: StateLimits, number: () -> Int64
    ) throws(StateError) -> (rows: [RowKey: ByteRow?], head: [UInt8]) {
        var rows: [RowKey: ByteRow?] = [:]
        for page in dropChangedPages() { rows[pageKey(owner, page)] = .some(nil) }
        var head = try encoded()
        guard head.count > limits.headBytes else { return (rows, head) }
        for page in try moveOlder(limits) {
            guard let last = page.last else { continue }
            let key = olderKey(owner, endingWith: last.cursor)
            rows[key] = ByteRow(key: key, bytes: try CursorPage(number: 0, cursors: page).encoded())
        }
        for page in dropChangedPages() { rows[pageKey(owner, page)] = .some(nil) }
        head = try encoded()
        guard head.count > limits.headBytes else { return (rows, head) }
        // The tip and what is made from it, as a rule, may come back next.
        let recent = cursorsInHead.dropLast(Self.atHand / 2).filter { $0.cursor != tip }
        for cursors in try Self.grouped(recent, limits) {
            var page = CursorPage(number: number(), cursors: cursors)
            let (key, bytes) = (pageKey(owner, page), try page.encoded())
            page.size = bytes.count
            rows[key] = ByteRow(key: key, bytes: bytes)
            pages.append(page)
        }
        return (rows, try encoded())
    }

    /// Forgets the pages whose cursors have changed or are gone; returns them.
    private mutating func dropChangedPages() -> [CursorPage] {
        let changed = pages.filter { !$0.cursors.allSatisfy { self[$0.cursor] == $0 } }
        pages.removeAll { page in changed.contains { $0.number == page.number } }
        return changed
    }

    /// Takes the oldest cursors away, as far as no delta of theirs is still needed; returns them by page.
    private mutating func moveOlder(_ limits: StateLimits) throws(StateError) -> [[StoredCursor]] {
        guard let tip else { return [] }
        let chain = Set(chain(from: tip).steps.map { cursors[$0].cursor })
        let isOld: (StoredCursor) -> Bool = { $0.cursor < tip && ($0.delta == nil || !chain.contains($0.cursor)) }
        var gone = Array(cursors.dropLast(Self.atHand).prefix(while: isOld))
        guard !gone.isEmpty else { return [] }
        cursors.removeFirst(gone.count)
        for index in gone.indices {
            // What is exact has seen at least what those before it have seen, so that the first one says what all have.
            if gone[index].noted < older.noted { gone[index].isExact = false }
            older.noted = max(older.noted, gone[index].noted)
            older.ledgerBytes += gone[index].ledgerBytes
        }
        older.count += gone.count
        return try Self.grouped(gone[...], limits)
    }

    private static func grouped(
        _ cursors: some Sequence<StoredCursor>, _ limits: StateLimits
    ) throws(StateError) -> [[StoredCursor]] {
        var (groups, size): ([[StoredCursor]], Int) = ([], .max)
        for cursor in cursors {
            // Each is written as what differs from the next one, which is about what differs from the one before.
            var bytes = try StoredCursor.encode([cursor], after: groups.last?.last).count
            if size > limits.headBytes - bytes || groups.last.map({ $0.count >= pageCursors }) ?? true {
                groups.append([])
                (size, bytes) = (0, try StoredCursor.encode([cursor], after: nil).count)
            }
            groups[groups.count - 1].append(cursor)
            size += bytes
        }
        return groups
    }
}

extension StoredCursor {
    var ledgerBytes: Int { (delta?.bytes ?? 0) + (undo?.bytes ?? 0) }
}

extension Account {
    /// Returns a replica with what is known of the cursors below an older one, and of the ways back to it.
    ///
    /// It is for reading: the older cursors must not be written into the head.
    package mutating func replica(_ id: ReplicaID, at cursor: Cursor) throws -> ReplicaHead? {
        guard var replica = try replica(id) else { return nil }
        guard replica.older.count > 0 else { return replica }
        var next: Cursor? = cursor
        while let cursor = next, cursor != replica.ledger.compacted {
            if replica[cursor] == nil { replica.insert(try olderPage(of: replica, with: cursor)) }
            next = replica[cursor]?.below.flatMap { $0 < cursor ? $0 : nil }
        }
        guard let bottom = replica.chain(from: cursor).bottom, bottom < replica.ledger.compacted ?? bottom else {
            return replica
        }
        for row in try rows(replica.olderPages(owner, from: bottom)) {
            replica.insert(try CursorPage(decoding: row.bytes).cursors)
        }
        return replica
    }

    private mutating func olderPage(of replica: ReplicaHead, with cursor: Cursor) throws -> [StoredCursor] {
        let row = try rows(replica.olderPages(owner, from: cursor, limit: 1)).first
        return try row.map { try CursorPage(decoding: $0.bytes).cursors } ?? []
    }
}
