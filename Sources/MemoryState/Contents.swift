// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Holds the whole state.
struct Contents: Sendable {
    let limits: StateLimits
    var owners: [Principal: Owner] = [:]
    var replicas: [ReplicaID: Replica] = [:]
    var shelf = LayerShelf()
    var lines = LineQuarantine()
    var pushes = QuarantineTable()
    var journals = Journals()
    var leases = LeaseTable()
    /// The greatest cursor of principals that were forgotten.
    var newestCollected: Cursor?
    var time = CollectionTime()
    /// The start of the hour in which forgotten replicas are counted, and the number that may still be forgotten in it.
    var burials: (since: Instant, left: Int) = (0, 0)

    init(limits: StateLimits) { self.limits = limits }

    /// Returns a principal; nil if it is unknown.
    func owner(_ principal: Principal) throws(StateError) -> Owner? {
        owners[Principal(rawValue: try key(principal.rawValue, "principal"))]
    }

    /// Changes a principal, and adds it first if it is unknown.
    mutating func withOwner<T>(
        _ principal: Principal, at now: Instant, _ body: (inout Owner) throws -> T
    ) throws -> T {
        _ = try key(principal.rawValue, "principal")
        return try body(&owners[principal, default: Owner(lastSeen: now)])
    }

    /// Returns the replicas of a principal by their numbers.
    func replicas(of principal: Principal) -> [(id: ReplicaID, replica: Replica)] {
        replicas.filter { $0.value.principal == principal }.map { ($0.key, $0.value) }
            .sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Returns the newest cursor that was handed out to a replica.
    func newestCursor(of replica: ReplicaID) -> Cursor? {
        guard let principal = replicas[replica]?.principal else { return nil }
        return owners[principal]?.cursors.values.filter { $0.row.replica == replica }.map(\.row.cursor).max()
    }

    /// Returns the sessions with which a replica has synced.
    func sessions(of replica: ReplicaID) -> Set<Session> {
        let cursors = replicas[replica].flatMap { owners[$0.principal]?.cursors.values }
        return Set((cursors ?? [:].values).filter { $0.row.replica == replica }.map(\.row.session))
    }

    /// Forgets a replica with its cursors; its layers can be read until the next collections.
    mutating func kill(_ replica: ReplicaID) {
        guard let principal = replicas.removeValue(forKey: replica)?.principal else { return }
        let cursors = owners[principal]?.cursors.filter { $0.value.row.replica != replica }
        owners[principal]?.cursors = cursors ?? [:]
    }
}

/// Holds the state of one principal.
struct Owner: Sendable {
    /// The greatest cursor that the principal ever got.
    var newest: Cursor?
    /// The time up to which its cursors are distrusted.
    var distrustedAt: Instant = 0
    var lastSeen: Instant
    var sessions: [Session: MetSession] = [:]
    var cursors: [Cursor: StoredCursor] = [:]
    var notes = NoteTable()
    /// The receipts, oldest first.
    var receipts: [StoredReceipt] = []
    var ids = IDMap()
    var refusals: [PushedRecordKey: RefusalEntry] = [:]

    init(lastSeen: Instant) { self.lastSeen = lastSeen }

    /// Changes a session, and adds it first if it is unknown.
    mutating func withSession<T>(_ session: Session, at now: Instant, _ body: (inout MetSession) throws -> T) throws
        -> T
    {
        _ = try key(session.rawValue, "session")
        return try body(&sessions[session, default: MetSession(lastSeen: now)])
    }

    /// Forgets the positions of the other sessions, which may be the same session at the backend.
    mutating func forgetPositions(except session: Session?) {
        for other in sessions.keys where other != session { sessions[other]?.row.position = .unknown }
    }

    /// Keeps a receipt in place of one of the same push, and no more receipts than the limit.
    mutating func save(_ kept: JournalEnd.KeptReceipt, limit: Int, at now: Instant) throws {
        _ = try key(kept.digest, "push digest")
        _ = try key(kept.receipt.contentType, "content type")
        receipts.removeAll { $0.kept.expiresAt <= now || $0.kept.digest == kept.digest }
        receipts.append(StoredReceipt(kept: kept, savedAt: now))
        receipts.removeFirst(max(0, receipts.count - max(1, limit)))
    }
}

/// A session that the state knows.
struct MetSession: Sendable {
    var row = SessionRow()
    var lastSeen: Instant
}

/// A cursor and its standing in its replica's ledger.
struct StoredCursor: Sendable {
    var row: CursorRow
    var standing: LedgerStanding
}

/// The answer of a push.
struct StoredReceipt: Sendable {
    var kept: JournalEnd.KeptReceipt
    var savedAt: Instant
}

/// One client database.
struct Replica: Sendable {
    var principal: Principal
    var isConfirmed: Bool
    var firstSeen: Instant
    var lastSeen: Instant
    var lastResult: String
    var schemaVersion: Int?
    /// The schema version that the replica's pushes have stated or implied.
    var pushedVersion: Int?
    /// The newest cursor that the device has presented.
    var tip: Cursor?
    var ledger = ReplicaLedger()
    var acceptedAt: Instant = 0
    var resyncAt: Instant = 0
    var redeliveries: [PushedRecordKey: StoredRedelivery] = [:]
    var troubles: [DeviceTrouble.Kind: DeviceTrouble] = [:]
}

/// A record that a replica must get once more.
struct StoredRedelivery: Sendable {
    var count: Int
    var since: Instant
    /// The cursor of the answer that has brought the record.
    var delivered: Cursor?
}
