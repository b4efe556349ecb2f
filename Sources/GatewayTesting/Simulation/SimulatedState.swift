// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
package import SyncModel

/// The gateway's durable state with the transactions of pulls and pushes; what is not in it is lost in a crash.
///
/// It follows the rules of the real stores: confirmed cursors of a replica form one line, and each layer of a ledger
/// belongs to a base, a cursor or a way back.
package struct SimulatedState {
    /// What is known of one client database.
    struct Replica {
        /// The newest cursor that has come back.
        var tip: Cursor?
        var base: LayerID?
        /// The newest cursor that is in the base.
        var compacted: Cursor?
        /// The newest cursor behind which the ways back are gone.
        var horizon: Cursor?
        /// Rises with every change of the base.
        var version = 0
        /// As pulls read it; a compaction goes on under the next odd one.
        var readableVersion: Int { version << 1 }
        /// The least schema version that has all that pushes have named.
        var pushedVersion: Int?
        /// The newest layer when the compaction under way began: its undos come behind those of an interrupted one.
        var compactAfter = LayerID(rawValue: 0)
        var acceptedAt: Int64 = 0
        var resyncAt: Int64 = 0
        var lastSeen: Int64
        /// What was in the base before a cursor was compacted, in the order of the cursors and then of the layers.
        var undos: [(cursor: Cursor, layer: LayerID)] = []
    }

    /// Where a cursor stands in its replica's ledger.
    struct Place {
        /// What it adds to the cursor below it.
        var layer: LayerID?
        /// The cursor below; the cursor itself where it is in the base; nil where nothing is known.
        var below: Cursor?
        /// Whether it is known exactly what the device has with it.
        var isExact: Bool
    }

    /// Why a commit came to nothing.
    enum Refusal: Error { case taken(newest: Cursor), forked, ledgerChanged, generationChanged }

    /// What a commit does with the ledger.
    enum Ledger {
        case none
        case chunks([LedgerChunk], [String: LedgerCount])
    }

    /// Every cursor that was made and is still known, by its integer.
    package internal(set) var rows: [Int64: CursorRow] = [:]
    /// What is known of each session.
    package private(set) var sessions: [Session: SessionRow] = [:]
    var places: [Cursor: Place] = [:]
    var replicas: [ReplicaID: Replica] = [:]
    /// Cursors without which their replica went on, and of which nothing is known any more.
    var strays: Set<Cursor> = []
    var layers = SimulatedLayers()
    var notes: [SimulatedKey: PushNote] = [:]
    /// When each note was made.
    private(set) var notedAt: [SimulatedKey: Int64] = [:]
    private(set) var sequence: Int64 = 0
    /// Pushes that were answered since the last answered pull.
    var receipts: Set<String> = []
    /// The newest integer that was handed out.
    private(set) var newest: Cursor?

    /// What a pull begins with.
    func context(_ query: PullQuery, now: Int64) -> PullContext {
        var context = PullContext(
            newest: newest, session: sessions[query.session] ?? SessionRow(), sequence: sequence,
            hasLedgers: replicas.values.contains { $0.base != nil }, now: now)
        guard let row = query.presented.flatMap({ rows[$0.rawValue] }), let replica = replicas[row.replica] else {
            return context
        }
        context.row = row
        context.isNewestOfReplica = !rows.values.contains { $0.replica == row.replica && $0.cursor > row.cursor }
        context.isFork = replica.tip.map { $0 != row.cursor && $0 != row.parent } ?? false
        context.pushedVersion = replica.pushedVersion
        let outline = outline(of: row.replica, at: row.cursor)
        context.ledger = PullContext.Ledger(outline, maximumUndos: Simulation.maximumUndos)
        guard replica.base != nil else { return context }
        context.ledger.needsCompaction = outline.deltas.count > Simulation.compactAfter
        context.ledger.acceptedAt = replica.acceptedAt
        context.ledger.resyncAt = replica.resyncAt
        let held = (outline.base.map { [$0] } ?? []) + outline.deltas
        for (name, type) in query.ledgered {
            context.ledger.rows[name] = type.parts.reduce(0) { $0 + layers.count(of: held, table: $1.table) }
        }
        return context
    }

    /// Transaction 1.
    mutating func confirm(_ cursor: Cursor, now: Int64) {
        guard let row = rows[cursor.rawValue], let replica = replicas[row.replica] else { return }
        replicas[row.replica]?.lastSeen = now
        guard !row.isConfirmed, replica.tip == nil || row.parent == replica.tip else { return }
        rows[cursor.rawValue]?.isConfirmed = true
        replicas[row.replica]?.tip = cursor
    }

    /// Transactions 2 and 3.
    mutating func store(_ position: Position, session: Session) {
        sessions[session, default: SessionRow()].position = position
    }

    /// Transaction 4.
    mutating func raiseGeneration(session: Session) -> Int {
        sessions[session, default: SessionRow()].generation += 1
        sessions[session]?.position = .unknown
        return sessions[session]?.generation ?? 0
    }

    /// Transaction 5.
    mutating func commit(
        _ row: CursorRow, isNewReplica: Bool, _ ledger: Ledger, basedOn outlines: [LedgerOutline], now: Int64
    ) throws(Refusal) {
        if let newest, row.cursor <= newest { throw .taken(newest: newest) }
        guard row.generation == sessions[row.session]?.generation ?? 0 else { throw .generationChanged }
        for outline in outlines where replicas[outline.replica]?.readableVersion != outline.version {
            throw .ledgerChanged
        }
        var replica = replicas[row.replica] ?? Replica(lastSeen: now)
        if !isNewReplica {
            guard replicas[row.replica] != nil, row.parent != nil, row.parent == replica.tip else { throw .forked }
        }
        replica.lastSeen = now
        places[row.cursor] = try take(ledger, row, &replica)
        replicas[row.replica] = replica
        rows[row.cursor.rawValue] = row
        newest = row.cursor
        receipts = []
    }

    /// Takes over which schema version a push with this cursor shows; it only rises.
    mutating func learn(_ version: Int, from cursor: Cursor) {
        guard let replica = rows[cursor.rawValue]?.replica else { return }
        let known = replicas[replica]?.pushedVersion ?? 0
        replicas[replica]?.pushedVersion = max(version, known)
    }

    /// Transactions 6 and 8.
    mutating func note(_ noted: [(key: SimulatedKey, state: PushNote.State, links: [UInt64])], now: Int64) {
        for (key, state, links) in noted {
            sequence += 1
            let old = notes[key]
            notes[key] = PushNote(
                table: key.table.name, id: key.id, state: state == .seen ? old?.state ?? .seen : state,
                sequence: sequence, links: links.isEmpty ? old?.links ?? [] : links,
                shape: SimulatedSchema.shapes[key.table.rawValue].shape.tag)
            notedAt[key] = now
        }
    }

    /// Takes back a note that nothing has come of, nor of another one of its record.
    mutating func drop(_ note: PushNote) {
        guard note.state == .seen, let key = notes.first(where: { $0.value == note })?.key else { return }
        notes[key] = nil
    }

    /// What an operator does after restoring an older copy: nothing that the sessions are believed to hold is true, and
    /// no hash that a ledger has, since notes of pushes are lost.
    mutating func distrustAll(now: Int64) {
        for replica in replicas.keys { replicas[replica]?.resyncAt = now }
        for session in sessions.keys {
            sessions[session]?.generation += 1
            sessions[session]?.position = .unknown
        }
    }
}
