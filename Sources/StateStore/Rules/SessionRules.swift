// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps what the backend holds for the sessions of a principal.
package enum SessionRules {
    /// Returns what is known of a session.
    static func row(of session: Session, generation: Int, in account: inout Account) throws -> SessionRow {
        guard let stored = try stored(session, in: &account) else { return SessionRow(generation: generation) }
        return SessionRow(
            generation: generation, position: try position(of: session, stored, in: &account),
            acceptedAt: stored.acceptedAt)
    }

    private static func position(
        of session: Session, _ stored: StoredSession, in account: inout Account
    ) throws -> Position {
        guard let move = try lastMove(in: &account) else { return .unknown }
        let replica = try stored.replica.flatMap { try account.replica(ReplicaID(rawValue: $0)) }
        let position = stored.replica == nil ? stored.position : replica?.position
        guard let position, position.move == move.number, position.session == session.rawValue else { return .unknown }
        return .at(position.vector)
    }

    /// Records the session's position at the backend: `.unknown` before every ack call, the vector after its 2xx.
    ///
    /// It is kept in the head of the replica that syncs under the session, if there is one. An unknown position is the
    /// beginning of a move: those of the principal's other sessions are unknown from then on, since they may be the
    /// same one at the backend. A known one is not kept if another move has begun since.
    ///
    /// - Parameters:
    ///   - position: The position.
    ///   - session: The session.
    ///   - replica: The replica that syncs under it.
    ///   - known: The number of the last move that the caller knows of, 0 if there was none; nil if nobody else can have
    ///     begun one since.
    ///   - now: The present time.
    ///   - account: The account.
    /// - Returns: The number of the last move that the caller knows of now.
    /// - Throws: ``StateError/tooLarge(_:)``.
    @discardableResult
    package static func setPosition(
        _ position: Position, of session: Session, syncing replica: ReplicaID? = nil, after known: Int64? = nil,
        at now: Instant, in account: inout Account
    ) throws -> Int64 {
        try position.vector.map { try $0.check(account.setting.limits) }
        var move = try lastMove(in: &account)
        if position != .unknown, let known, known != move?.number ?? 0 { return known }
        try account.withHead(at: now) { _ in }
        if position == .unknown || move == nil {
            let next = LastMove(
                number: account.nextNumber(at: now), epoch: account.setting.epoch, resets: try account.epochs().resets)
            try account.put(next, at: moveKey(account.owner))
            move = next
        }
        let stored = position.vector.map {
            StoredPosition(session: session.rawValue, vector: $0, move: move?.number ?? 0)
        }
        try change(session, at: now, in: &account) { session in
            session.replica = replica?.rawValue
            session.position = replica == nil ? stored : nil
        }
        if let replica { try account.withReplica(replica) { $0.position = stored } }
        return move?.number ?? 0
    }

    /// Returns the number of the last move of the principal's sessions; 0 if there was none.
    static func lastMove(of account: inout Account) throws -> Int64 { try lastMove(in: &account)?.number ?? 0 }

    /// Makes the positions of all sessions unknown.
    static func forgetPositions(in account: inout Account) { account.delete(moveKey(account.owner)) }

    /// Returns the key of the row without which no position of the principal's sessions counts.
    package static func moveKey(_ owner: Int64) -> RowKey { RowKey(.move, of: owner) }

    private static func sessionKey(_ session: Session, _ owner: Int64) throws(StateError) -> RowKey {
        RowKey(.session, of: owner, Array(try key(session.rawValue, "session").utf8))
    }

    private static func lastMove(in account: inout Account) throws -> LastMove? {
        // What cannot be read is as unknown as what is not there, and is written anew.
        let move = try account.row(moveKey(account.owner)).flatMap { try? LastMove(decoding: $0.bytes) }
        guard let move, move.epoch == account.setting.epoch else { return nil }
        return move.resets == (try account.epochs().resets) ? move : nil
    }

    /// Adds the lookups that say what is known of a session.
    static func need(_ session: Session, of owner: Int64, in lookups: inout [Lookup]) throws(StateError) {
        lookups.append(.row(moveKey(owner)))
        lookups.append(.row(try sessionKey(session, owner)))
    }

    private static func stored(_ session: Session, in account: inout Account) throws -> StoredSession? {
        try account.row(sessionKey(session, account.owner)).flatMap { try? StoredSession(decoding: $0.bytes) }
    }

    /// Records that a session is used, and that the backend has just accepted its credential if `acceptedAt` says so.
    static func touch(
        _ session: Session, acceptedAt: Instant? = nil, at now: Instant, in account: inout Account
    ) throws {
        try change(session, at: now, in: &account) { $0.acceptedAt = acceptedAt ?? $0.acceptedAt }
    }

    private static func change(
        _ session: Session, at now: Instant, in account: inout Account, _ body: (inout StoredSession) -> Void
    ) throws {
        let known = try stored(session, in: &account)
        var stored = known ?? StoredSession(lastSeen: now)
        body(&stored)
        stored.lastSeen.touch(now)
        if stored != known { try account.put(stored, at: sessionKey(session, account.owner)) }
    }

    /// Raises the session's generation and forgets the positions, before a reset is acknowledged; returns the new
    /// generation.
    package static func raiseGeneration(
        of session: Session, at now: Instant, in account: inout Account
    ) throws -> Int {
        forgetPositions(in: &account)
        try touch(session, at: now, in: &account)
        let resets = try account.epochs().resets
        return try account.withHead(at: now) { head in
            head.sessionResets[try key(session.rawValue, "session"), default: 0] += 1
            if head.sessionResets.count > maximumResets {
                // What is no longer known of single sessions holds for all of them.
                head.resets += head.sessionResets.values.max() ?? 0
                head.sessionResets = [:]
            }
            return resets + head.generation(of: session)
        }
    }

    /// The most sessions of a principal whose own resets are kept.
    private static let maximumResets = 32

    /// Records that the backend has accepted the session's credential, at most once per accepted interval.
    package static func markAccepted(_ session: Session, at now: Instant, in account: inout Account) throws {
        if let known = try stored(session, in: &account)?.acceptedAt,
            !account.setting.limits.isAcceptanceDue(now, after: known)
        {
            return
        }
        try account.withHead(at: now) { _ in }
        try touch(session, acceptedAt: now, at: now, in: &account)
    }

    /// Returns the time up to which what the principal's devices have got so far is distrusted, if it is now.
    package static func distrusted(at now: Instant, of account: inout Account) throws -> Instant {
        let newest = (try account.allReplicas().map(\.newest) + [account.head()?.newestGone]).compactMap { $0 }.max()
        return max(now + account.setting.cursorLead, newest?.time ?? 0)
    }

    /// Raises the generations of all sessions and forgets their positions: no pull that has begun is committed.
    package static func raiseGenerations(in account: inout Account) throws {
        forgetPositions(in: &account)
        try account.withKnownHead { $0.resets += 1 }
    }

    /// Distrusts what the principal's devices have got until a time, as `OperatorCommands.distrust` explains.
    package static func distrust(until time: Instant, in account: inout Account) throws {
        try account.withKnownHead { $0.distrustedAt = max($0.distrustedAt, time) }
    }

    /// Deletes the sessions that were not seen for long and that no cursor at hand needs; returns their number.
    ///
    /// Their generations stay known.
    static func collect(
        neededBy sessions: Set<Session>, before: Instant, in account: inout Account
    ) throws -> Int {
        let named = Set(sessions.compactMap { try? sessionKey($0, account.owner) })
        let gone = try account.rows(.session).filter { row in
            let lastSeen = (try? StoredSession(decoding: row.bytes))?.lastSeen ?? 0
            return lastSeen < before && !named.contains(row.key)
        }
        for row in gone { account.delete(row.key) }
        return gone.count
    }
}
