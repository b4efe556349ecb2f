// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The state of one client database.
package struct ReplicaHead: Hashable, Sendable {
    /// The replica.
    package var id: ReplicaID
    /// True if it has ever come back.
    package var isConfirmed: Bool
    /// The time at which it began.
    package var firstSeen: Instant
    /// The time at which it last pulled or pushed; stored up to ten minutes late.
    package var lastSeen: Instant
    /// The result of its last pull or push.
    package var lastResult: String
    /// The schema version that the client has last stated.
    package var schemaVersion: Int?
    /// The schema version that its pushes have stated or implied.
    package var pushedVersion: Int?
    /// The vector that the backend holds for the session that it last synced under; nil if that is unknown.
    var position: StoredPosition?
    /// The newest cursor that has come back.
    package var tip: Cursor?
    /// The time at which the operator last accepted held-back deletions.
    package var acceptedAt: Instant = 0
    /// The time at which the operator last requested that everything be compared, plus the lead of cursors.
    package var resyncAt: Instant = 0
    /// The cursors in their order, but for the ``older`` ones.
    package var cursors: [StoredCursor] = []
    /// The pages that have some of these cursors.
    var pages: [CursorPage] = []
    /// The cursors in the head that were not read yet, because they build on those in pages.
    var unreadCursors: [UInt8]?
    var older = OlderCursors()
    /// Its ledger; the deltas are with the cursors.
    package var ledger = ReplicaLedger()
    /// The ways in which it does not get on; their counts are rows.
    package var troubles: Set<DeviceTrouble.Kind> = []
    /// Those that only a newer gateway knows, by their names.
    var laterTroubles: [String] = []
    /// The number of recorded redeliveries, which are rows.
    package var owed = 0
    /// The parts that a newer gateway has appended.
    var later: [UInt8] = []

    /// The bytes that the value takes in memory, about.
    var weight: Int {
        cursors.reduce(2_000 + 150 * (ledger.base?.chunks.count ?? 0)) { weight, cursor in
            let chunks = (cursor.delta?.chunks.count ?? 0) + (cursor.undo?.chunks.count ?? 0)
            return weight + 1_000 + 100 * cursor.vector.tokens.count + 150 * chunks + 50 * cursor.facts.ids.kept.count
        }
    }

    /// The newest cursor that was handed out.
    package var newest: Cursor? { cursors.last?.cursor }

    /// The sessions with which it has synced.
    package var sessions: Set<Session> { Set(cursors.map(\.session)) }

    func index(of cursor: Cursor) -> Int? { cursors.index(of: cursor) }

    /// Returns a cursor; nil if it is not one of this replica.
    package subscript(cursor: Cursor) -> StoredCursor? { index(of: cursor).map { cursors[$0] } }
}

extension ReplicaHead {
    /// Makes a change; one that is old news does nothing.
    mutating func make(_ change: DeferredChange) {
        switch change {
        case .contact(let now): lastSeen = max(lastSeen, now)
        case .confirmed(let cursor, let now):
            lastSeen = max(lastSeen, now)
            guard let index = newsIndex(of: cursor) else { return }
            cursors[index].isConfirmed = true
            (isConfirmed, tip) = (true, cursor)
        }
    }

    /// Returns the replica as changes leave it.
    package func applying(_ changes: [DeferredChange]) -> Self {
        var replica = self
        for change in changes { replica.make(change) }
        return replica
    }

    /// Returns the index of a cursor whose coming back is news; an older cursor never is.
    func newsIndex(of cursor: Cursor) -> Int? {
        index(of: cursor).flatMap { index in
            !cursors[index].isConfirmed && (tip == nil || cursors[index].parent == tip) ? index : nil
        }
    }
}

/// The ledger's part of a replica.
package struct ReplicaLedger: Hashable, Sendable {
    /// The state of the replica at the newest cursor that was compacted.
    package var base: LedgerLayer?
    /// The newest cursor that is in the base.
    package var compacted: Cursor?
    /// The oldest cursor to which the undos lead back; nil while all undos are there.
    package var horizon: Cursor?
    /// Rises with every change of the base, and when undos or deltas go: a pull that has read some of them begins anew.
    package var version = 0

    /// Creates the ledger of a replica that has none.
    package init() {}
}

extension ReplicaHead {
    /// The longest chain of cursors that is followed; a longer one counts as a ledger without a base.
    private static let maximumSteps = 4_096

    /// Returns the indices of the cursors from this one down to the newest that is in the base, newest first, without
    /// those that added nothing and without the last one; and that one, nil if it is not known.
    func chain(from cursor: Cursor) -> (steps: [Int], bottom: Cursor?) {
        var (steps, next): ([Int], Cursor) = ([], cursor)
        steps.reserveCapacity(cursors.count)
        while steps.count <= Self.maximumSteps, next != ledger.compacted {
            guard let step = index(of: next), let below = cursors[step].below, below <= next else {
                return (steps, nil)
            }
            if below == next { return (steps, next) }
            steps.append(step)
            next = below
        }
        return (steps, next == ledger.compacted ? next : nil)
    }

    /// Returns the ledger as one of the cursors sees it.
    package func outline(at cursor: Cursor?) -> LedgerOutline {
        var outline = LedgerOutline(replica: id, base: ledger.base, version: ledger.version)
        guard outline.base != nil, let cursor else { return outline }
        let (steps, bottom) = chain(from: cursor)
        outline.deltas.reserveCapacity(steps.count)
        for step in steps {
            guard let delta = cursors[step].delta else { continue }
            outline.deltas.append(delta)
            outline.deltaChunks += delta.chunkCount
        }
        // If it is unknown on which base the cursor was made, the present one is a superset, without ways back.
        guard let bottom else { return outline }
        outline.undos = cursors.filter { $0.cursor > bottom }.compactMap(\.undo)
        outline.isExact = self[cursor]?.isExact == true && ledger.horizon.map { bottom >= $0 } ?? true
        return outline
    }

    /// All layers.
    package var layers: [LedgerLayer] {
        (ledger.base.map { [$0] } ?? []) + cursors.flatMap(\.layers)
    }

    /// Takes a delta away from its cursor, which rests on another one from now on, or is no longer exact if `below` is
    /// nil.
    ///
    /// - Returns: The delta.
    mutating func dropDelta(of cursor: Cursor, below: Cursor?) -> LedgerLayer? {
        guard let index = index(of: cursor), let delta = cursors[index].delta else { return nil }
        cursors[index].delta = nil
        cursors[index].below = below
        if below == nil { cursors[index].isExact = false }
        return delta
    }
}

extension StoredCursor {
    var layers: [LedgerLayer] { [delta, undo].compactMap(\.self) }
}
