// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// All that a state knows.
struct Contents: Sendable {
    let limits: StateLimits
    var owners: [Principal: Owner] = [:]
    var replicas: [ReplicaID: Replica] = [:]
    var shelf = LayerShelf()
    var lines = LineQuarantine()
    var pushes = PushQuarantine()
    var journals = Journals()
    /// The greatest cursor of principals that were forgotten.
    var newestCollected: Cursor?
    var time = CollectionTime()
    /// Since when replicas are counted that are forgotten, and how many more may be.
    var burials: (since: Int64, left: Int) = (0, 0)

    init(limits: StateLimits) { self.limits = limits }

    /// A principal that is known.
    func owner(_ principal: Principal) throws(StateError) -> Owner? {
        owners[Principal(rawValue: try key(principal.rawValue, "principal"))]
    }

    /// Makes a principal known, and changes what is known of it.
    mutating func withOwner<T>(
        _ principal: Principal, at now: Int64, _ body: (inout Owner) throws -> T
    ) throws -> T {
        _ = try key(principal.rawValue, "principal")
        return try body(&owners[principal, default: Owner(lastSeen: now)])
    }

    /// The replicas of a principal by their numbers.
    func replicas(of principal: Principal) -> [(id: ReplicaID, replica: Replica)] {
        replicas.filter { $0.value.principal == principal }.map { ($0.key, $0.value) }
            .sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// The newest cursor that a replica got.
    func newestCursor(of replica: ReplicaID) -> Cursor? {
        guard let principal = replicas[replica]?.principal else { return nil }
        return owners[principal]?.cursors.values.filter { $0.row.replica == replica }.map(\.row.cursor).max()
    }

    /// Forgets a replica with its cursors; its layers can be read until the next collections.
    mutating func kill(_ replica: ReplicaID) {
        guard let principal = replicas.removeValue(forKey: replica)?.principal else { return }
        let cursors = owners[principal]?.cursors.filter { $0.value.row.replica != replica }
        owners[principal]?.cursors = cursors ?? [:]
    }
}

/// What the state knows of one principal.
struct Owner: Sendable {
    /// The greatest cursor that it ever got.
    var newest: Cursor?
    var lastSeen: Int64
    var sessions: [Session: MetSession] = [:]
    var cursors: [Cursor: StoredCursor] = [:]
    var notes = PushNotes()
    /// The oldest first.
    var receipts: [StoredReceipt] = []
    var ids = IDMap()
    var refusals: [PushedRecordKey: RefusalEntry] = [:]

    init(lastSeen: Int64) { self.lastSeen = lastSeen }

    /// Makes a session known, and changes what is known of it.
    mutating func withSession<T>(_ session: Session, at now: Int64, _ body: (inout MetSession) throws -> T) throws -> T
    {
        _ = try key(session.rawValue, "session")
        return try body(&sessions[session, default: MetSession(lastSeen: now)])
    }

    /// Ends what is believed of the other sessions' positions, which may be the same one at the backend.
    mutating func forgetPositions(except session: Session) {
        for other in sessions.keys where other != session { sessions[other]?.row.position = .unknown }
    }

    /// Keeps a receipt in place of one of the same push, and at most as many as the limit says.
    mutating func save(_ kept: JournalEnd.KeptReceipt, limit: Int, at now: Int64) throws {
        _ = try key(kept.digest, "push digest")
        _ = try key(kept.receipt.contentType, "content type")
        receipts.removeAll { $0.kept.expiresAt <= now || $0.kept.digest == kept.digest }
        receipts.append(StoredReceipt(kept: kept, savedAt: now))
        receipts.removeFirst(max(0, receipts.count - max(1, limit)))
    }
}

/// A session that the state has met.
struct MetSession: Sendable {
    var row = SessionRow()
    var lastSeen: Int64
}

/// A cursor and where it stands in its replica's ledger.
struct StoredCursor: Sendable {
    var row: CursorRow
    var standing: LedgerStanding
}

/// An answer of a push.
struct StoredReceipt: Sendable {
    var kept: JournalEnd.KeptReceipt
    var savedAt: Int64
}

/// One client database.
struct Replica: Sendable {
    var principal: Principal
    var isConfirmed: Bool
    var firstSeen: Int64
    var lastSeen: Int64
    var lastResult: String
    var schemaVersion: Int?
    /// The schema version that its pushes have shown.
    var pushedVersion: Int?
    /// The newest cursor that has come back.
    var tip: Cursor?
    var ledger = ReplicaLedger()
    var acceptedAt: Int64 = 0
    var resyncAt: Int64 = 0
    var redeliveries: [PushedRecordKey: StoredRedelivery] = [:]
}

/// A record that a replica must get once more.
struct StoredRedelivery: Sendable {
    var count: Int
    var since: Int64
    /// The cursor of the answer that has brought it.
    var delivered: Cursor?
}
