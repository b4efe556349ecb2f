// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension ReplicaHead: Coded {
    package init() {
        self.init(
            id: ReplicaID(rawValue: 0), isConfirmed: false, firstSeen: 0, lastSeen: 0, lastResult: "")
    }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        var number = id.rawValue
        try coder.code(&number)
        id = ReplicaID(rawValue: number)
        try coder.code(&isConfirmed, &firstSeen, &lastSeen, &lastResult, &schemaVersion)
        try coder.code(&pushedVersion, &position)
        try coder.code(&tip)
        try coder.code(&acceptedAt, &resyncAt)
        var inHead = unreadCursors ?? []
        if !coder.isReading, unreadCursors == nil {
            inHead = try StoredCursor.encode(cursorsInHead, after: newestPaged)
        }
        try coder.code(&inHead)
        var numbers = pages.map(\.number)
        try coder.code(&numbers)
        if coder.isReading {
            unreadCursors = inHead
            pages = numbers.map { CursorPage(number: $0, cursors: []) }
            if pages.isEmpty { try readCursors() }
        }
        try coder.code(&older, &ledger)
        var kinds = (troubles.map(\.rawValue) + laterTroubles).sorted()
        try coder.code(&kinds)
        troubles = Set(kinds.compactMap(DeviceTrouble.Kind.init(rawValue:)))
        laterTroubles = kinds.filter { DeviceTrouble.Kind(rawValue: $0) == nil }
        try coder.code(&owed)
        coder.code(rest: &later)
    }
}

extension ReplicaHead {
    /// The newest cursor in a page: what those in the head have in common with it is not repeated there.
    private var newestPaged: StoredCursor? {
        pages.lazy.compactMap(\.cursors.last).max { $0.cursor < $1.cursor }
    }

    /// Reads the cursors in the head, once the pages are there.
    mutating func readCursors() throws(StateError) {
        guard let bytes = unreadCursors else { return }
        var coder = Coder(reading: bytes)
        try StoredCursor.code(&cursors, with: &coder, after: newestPaged)
        guard coder.isAtEnd else { throw Coder.damage }
        unreadCursors = nil
    }
}

extension StoredCursor {
    /// Returns cursors as bytes, from the newest on, without what the first of them has in common with another cursor.
    static func encode(_ cursors: [Self], after other: Self?) throws(StateError) -> [UInt8] {
        var (coder, cursors) = (Coder(), cursors)
        try code(&cursors, with: &coder, after: other)
        return coder.bytes
    }

    /// A cursor before the newest one.
    private static var none: StoredCursor {
        StoredCursor(
            CursorRow(
                principal: Principal(), cursor: .first, replica: ReplicaID(rawValue: 0), parent: nil,
                vector: CheckpointVector(), schemaVersion: nil, session: Session(rawValue: ""), generation: 0,
                mappingDigest: ""))
    }

    /// Codes cursors from the newest on: most parts are those of the next newer one, of the newest those of `other`.
    static func code(
        _ cursors: inout [Self], with coder: inout Coder, after other: Self? = nil
    ) throws(StateError) {
        var count = cursors.count
        try coder.code(count: &count)
        var (rest, newer) = (cursors, other ?? Self.none)
        if coder.isReading { cursors = [] }
        for _ in 0..<count {
            var cursor = rest.popLast() ?? newer
            try cursor.code(with: &coder, after: newer)
            if coder.isReading { cursors.append(cursor) }
            newer = cursor
        }
        guard coder.isReading else { return }
        cursors.reverse()
        guard zip(cursors, cursors.dropFirst()).allSatisfy({ $0.cursor < $1.cursor }) else { throw Coder.damage }
    }

    private mutating func code(with coder: inout Coder, after newer: Self) throws(StateError) {
        var row = facts
        try coder.code(&cursor)
        try coder.code(&isConfirmed)
        try row.code(with: &coder, after: newer.facts)
        if coder.isReading {
            (row.cursor, row.isConfirmed) = (cursor, isConfirmed)
            self = StoredCursor(row)
        }
        try coder.code(&delta, &undo)
        try coder.code(&below)
        try coder.code(&isExact)
    }
}

extension CursorRow {
    /// Codes the facts that were known when the cursor was handed out.
    fileprivate mutating func code(with coder: inout Coder, after newer: Self) throws(StateError) {
        try coder.code(&parent)
        try coder.code(&vector, after: newer.vector)
        try coder.code(&schemaVersion)
        var digest = session.rawValue
        try coder.code(&digest, ifNot: newer.session.rawValue) { (c, v) throws(StateError) in try c.code(hex: &v) }
        if coder.isReading { session = Session(rawValue: digest) }
        try coder.code(&generation)
        try coder.code(&mappingDigest, ifNot: newer.mappingDigest) { (c, v) throws(StateError) in try c.code(hex: &v) }
        try coder.code(&noted)
        try coder.code(&comparisons, ifNot: newer.comparisons) { (c, v) throws(StateError) in
            try c.code(&v)
        }
        try coder.code(&ids.sequence)
        var kept = ids.kept.map { [$0.table, $0.id] }.sorted { $0.lexicographicallyPrecedes($1) }
        try coder.code(&kept)
        guard coder.isReading else { return }
        guard kept.allSatisfy({ $0.count == 2 }) else { throw Coder.damage }
        ids.kept = Set(kept.map { VisibleIDs.Entry(table: $0[0], id: $0[1]) })
    }
}

extension Coder {
    /// Codes a value that is often that of another one.
    fileprivate mutating func code<T: Equatable>(
        _ value: inout T, ifNot other: T, _ body: (inout Coder, inout T) throws(StateError) -> Void
    ) throws(StateError) {
        var isOther = value == other
        try code(&isOther)
        if isOther { value = other } else { try body(&self, &value) }
    }

    /// Codes a vector as what differs from another one.
    fileprivate mutating func code(
        _ vector: inout CheckpointVector, after newer: CheckpointVector
    ) throws(StateError) {
        let isSame = !isReading && vector == newer
        var tokens = isSame ? [:] : vector.tokens.filter { newer.tokens[$0.key] != $0.value }
        var missing = isSame ? [] : newer.tokens.keys.filter { vector.tokens[$0] == nil }.sorted()
        try code(&tokens)
        try code(&missing)
        guard isReading else { return }
        vector = CheckpointVector(
            newer.tokens.filter { !missing.contains($0.key) }.merging(tokens, uniquingKeysWith: { $1 }))
    }
}

extension FullComparison: Coded {
    package init() { self.init(doneAt: 0, mapping: "") }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&doneAt, &triedAt)
        try coder.code(hex: &mapping)
        try coder.code(&blockedAt, &failures, &hasDefaults)
        // They are calculated with.
        let times: ClosedRange<Instant> = 0...Instant(milliseconds: 1 << 53)
        guard [doneAt, triedAt, blockedAt].allSatisfy(times.contains), (0...Int(Int32.max)).contains(failures) else {
            throw Coder.damage
        }
    }
}

extension ReplicaLedger: Coded {
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&base)
        try coder.code(&compacted)
        try coder.code(&horizon)
        try coder.code(&version)
    }
}
