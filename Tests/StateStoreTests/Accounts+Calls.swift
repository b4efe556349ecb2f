// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// What tests do to a state again and again: for Alice and her phone, and now, unless they say otherwise.
extension Accounts {
    /// Commits the first pull of a new replica.
    func begin(
        _ row: CursorRow, at time: Instant = now, quarantined: [QuarantinedLine] = [],
        position: CheckpointVector? = nil, acceptedAt: Instant? = nil
    ) async throws {
        try await commit(
            PullCommit(
                row: row, replica: .new, quarantined: quarantined, now: time, position: position,
                acceptedAt: acceptedAt))
    }

    /// Commits a later pull of a known replica, which presents the parent first.
    func proceed(
        _ row: CursorRow, at time: Instant = now, position: CheckpointVector? = nil, acceptedAt: Instant? = nil
    ) async throws {
        if let parent = row.parent { try await confirm(parent.rawValue, of: row.principal, at: time) }
        try await goOn(row, at: time, position: position, acceptedAt: acceptedAt)
    }

    /// Commits a later pull of a known replica, whatever has come back.
    func goOn(
        _ row: CursorRow, at time: Instant = now, position: CheckpointVector? = nil, acceptedAt: Instant? = nil
    ) async throws {
        try await commit(
            PullCommit(row: row, replica: .existing, now: time, position: position, acceptedAt: acceptedAt))
    }

    /// Commits this many pulls of one replica, one after the other, each with a vector of its own.
    func pull(_ count: Int64) async throws {
        for value in 1...count {
            let row = try row(value, parent: value > 1 ? value - 1 : nil, vector: ["AlbumV1": "\(value)"])
            try await value == 1 ? begin(row) : proceed(row)
        }
    }

    /// The context of a pull.
    func context(
        _ presented: Int64? = nil, of principal: Principal = alice, session: Session = phone
    ) async throws -> StoredPullContext {
        let presented = try presented.map(cursor)
        return try await read(principal) { try ContextRule.context(of: &$0, session: session, presented: presented) }
    }

    /// Collects what is older than these; without them nothing is.
    @discardableResult
    func collect(
        at time: Instant = now, seenBefore: Instant = 0, supersededBefore: Instant? = nil, undoBefore: Instant = 0
    ) async throws -> Collected {
        try await collect(
            Retention(
                now: time, seenBefore: seenBefore, supersededBefore: supersededBefore, undoBefore: undoBefore))
    }

    /// Lets a device come back with a cursor.
    func confirm(_ value: Int64, of principal: Principal = alice, at time: Instant = now) async throws {
        try await change(principal) { try ReplicaRules.confirm(cursor(value), at: time, in: &$0) }
    }

    /// All replicas of a principal, or of everybody, as operators see them.
    func replicas(of principal: Principal? = nil) async throws -> [ReplicaRow] {
        try await inspection.replicas(of: principal, after: nil, limit: 1_000)
    }

    /// The only replica.
    func replica() async throws -> ReplicaRow {
        let all = try await replicas()
        try #require(all.count == 1)
        return all[0]
    }

    /// Notes what a replica last did.
    func touch(
        _ replica: Int64 = 1, of principal: Principal = alice, result: String = "pull", at time: Instant = now
    ) async throws {
        try await change(principal) {
            try ReplicaRules.touch(ReplicaID(rawValue: replica), result: result, at: time, in: &$0)
        }
    }

    /// Notes the schema version that a push shows, and tells whether it is news.
    func notePushed(_ version: Int, by replica: Int64?, of principal: Principal = alice) async throws -> Bool {
        try await change(principal) {
            try ReplicaRules.notePushed(version, by: replica.map(ReplicaID.init(rawValue:)), in: &$0)
        }
    }

    /// Asks for a comparison of everything with the next pull.
    func resync(_ replica: Int64 = 1, at time: Instant = now) async throws {
        try await change(alice) { try ReplicaRules.resync(ReplicaID(rawValue: replica), at: time, in: &$0) }
    }

    /// Lets deletions pass that were held back.
    func acceptDeletions(at time: Instant = now) async throws {
        try await change(alice) { try ReplicaRules.acceptDeletions(of: ReplicaID(rawValue: 1), at: time, in: &$0) }
    }

    /// Forgets a replica, and tells whether it was known.
    @discardableResult
    func forget(_ replica: Int64 = 1) async throws -> Bool {
        try await change(alice) { try ReplicaRules.forget(ReplicaID(rawValue: replica), at: now, in: &$0) }
    }

    /// The ledgers that a principal's devices may hold.
    func ledgers(of principal: Principal = alice) async throws -> [LedgerOutline] {
        try await read(principal) { try ReplicaRules.ledgers(of: &$0) }
    }

    /// Notes where the backend has a session.
    @discardableResult
    func setPosition(
        _ position: Position, of session: Session = phone, for principal: Principal = alice, at time: Instant = now,
        after move: Int64? = nil
    ) async throws -> Int64 {
        try await change(principal) {
            try SessionRules.setPosition(position, of: session, after: move, at: time, in: &$0)
        }
    }

    /// Where the backend is believed to have a session.
    func position(of session: Session = phone, for principal: Principal = alice) async throws -> Position {
        try await context(of: principal, session: session).session.position
    }

    /// Notes that the backend has reset a session.
    @discardableResult
    func raiseGeneration(of session: Session = phone, for principal: Principal = alice) async throws
        -> Int
    { try await change(principal) { try SessionRules.raiseGeneration(of: session, at: now, in: &$0) } }

    /// Notes that the backend has accepted the session.
    func markAccepted(at time: Instant = now) async throws {
        try await change(alice) { try SessionRules.markAccepted(phone, at: time, in: &$0) }
    }

    /// Notes pushed records.
    func write(_ notes: [PushNote], of principal: Principal = alice, at time: Instant = now) async throws {
        try await change(principal) { try NoteRules.write(notes, at: time, in: &$0) }
    }

    /// The notes of a principal, in their order.
    func notes(after: Int64 = 0, limit: Int = 9_999, of principal: Principal = alice) async throws -> [PushNote] {
        try await read(principal) { try NoteRules.notes(after: after, limit: limit, of: &$0) }
    }

    /// Keeps ids that the backend has given, and returns those that are not public.
    @discardableResult
    func save(_ mappings: [IDMapping], of principal: Principal = alice) async throws -> [IDMapping] {
        try await change(principal) { try IDRules.save(mappings, at: now, in: &$0) }
    }

    /// The ids that the backend has given.
    func mappings(after: Int64 = 0, limit: Int = 100, of principal: Principal = alice) async throws -> [StoredIDMapping]
    { try await read(principal) { try IDRules.mappings(after: after, limit: limit, of: &$0) } }

    /// Keeps the answer of a push.
    func save(
        _ receipt: Receipt, digest: String = "d", expiresAt: Instant = now + 120_000, of principal: Principal = alice,
        at time: Instant = now
    ) async throws {
        try await change(principal) {
            try ReceiptRules.save(receipt.kept(digest, until: expiresAt), at: time, in: &$0)
        }
    }

    /// The answer of the same push before.
    func receipt(_ digest: String = "d", of principal: Principal = alice, at time: Instant = now) async throws
        -> Receipt?
    { try await read(principal) { try ReceiptRules.receipt(digest, at: time, of: &$0) } }

    /// Forgets the answers of all pushes.
    func dropReceipts(of principal: Principal = alice) async throws {
        try await change(principal) { try ReceiptRules.drop(in: &$0) }
    }

    /// Quarantines pushed records, and returns the numbers of their entries.
    @discardableResult
    func quarantine(
        _ pushes: [QuarantinedOperation], limit: Int = 9, of principal: Principal = alice, at time: Instant = now
    ) async throws -> [Int64] {
        try await change(principal) { try QuarantineRules.add(pushes, limit: limit, at: time, in: &$0) }
    }

    /// Opens the journal of a push.
    @discardableResult
    func beginJournal(
        presented: Int64? = nil, operations: Int = 1, notes: [PushNote] = [], of principal: Principal = alice
    ) async throws -> Int64 {
        try await change(principal) {
            try JournalRules.begin(
                presenting: presented.map(cursor), operations: operations, notes: notes, at: now, in: &$0)
        }
    }

    /// Notes a device that tries and does not get on, and tells what is news of it.
    @discardableResult
    func trouble(
        _ kind: DeviceTrouble.Kind, _ replica: Int64 = 1, count: Int = 1, at time: Instant = now, code: String = "c"
    ) async throws -> (before: DeviceTrouble?, after: DeviceTrouble)? {
        try await change(alice) {
            try TroubleRules.note(
                DeviceTrouble(
                    replica: ReplicaID(rawValue: replica), principal: alice, kind: kind, count: count, since: time,
                    lastAt: time, code: code), in: &$0)
        }
    }
}

extension Receipt {
    /// The answer of a push that was taken.
    static let taken = Receipt(status: 200, contentType: "application/json", body: Array("{}".utf8))

    /// The receipt as it is kept.
    func kept(_ digest: String, until end: Instant) -> Self {
        var kept = self
        (kept.digest, kept.expiresAt) = (digest, end)
        return kept
    }
}
