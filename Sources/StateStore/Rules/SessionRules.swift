// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps what the backend holds for the sessions of a principal.
package enum SessionRules {
    /// Records a session's position; an unknown one makes those of the other sessions unknown, too.
    package static func setPosition(
        _ position: Position, of session: Session, at now: Instant, in account: inout Account
    ) throws {
        if let vector = position.vector, Netstrings.encode(vector).count > account.setting.limits.vectorBytes {
            throw StateError.tooLarge("checkpoint vector")
        }
        let (epochs, epoch) = (try account.epochs(), account.setting.epoch)
        try account.withHead(at: now) { head in
            if position == .unknown { head.forgetPositions(except: session) }
            try change(session, in: &head, at: now) { session in
                let known = session.position.flatMap { $0.isValid(epoch, epochs) ? $0.vector : nil }
                guard known != position.vector else { return }
                session.position = position.vector.map {
                    StoredPosition(vector: $0, epoch: epoch, resets: epochs.resets)
                }
                session.lastSeen = max(session.lastSeen, now)
            }
        }
    }

    /// Raises the generation and forgets the positions; returns the new generation.
    package static func raiseGeneration(
        of session: Session, at now: Instant, in account: inout Account
    ) throws -> Int {
        let epochs = try account.epochs()
        return try account.withHead(at: now) { head in
            head.forgetPositions(except: session)
            return try change(session, in: &head, at: now) { session in
                session.generation += 1
                session.position = nil
                session.lastSeen = max(session.lastSeen, now)
                return session.generation + epochs.resets
            }
        }
    }

    /// Records when the backend accepted the credential, at most once in the interval.
    package static func markAccepted(_ session: Session, at now: Instant, in account: inout Account) throws {
        let limits = account.setting.limits
        try account.withHead(at: now) { head in
            try change(session, in: &head, at: now) { session in
                if let accepted = session.acceptedAt, !limits.isAcceptanceDue(now, after: accepted) { return }
                session.acceptedAt = now
                session.lastSeen = max(session.lastSeen, now)
            }
        }
    }

    /// Distrusts what the principal's devices have got so far, as ``StateStore/distrust(because:of:at:)`` explains.
    package static func distrust(because restored: RestoredBackup, at now: Instant, in account: inout Account) throws {
        guard let head = try account.head() else { return }
        let replicas = try account.allReplicas()
        let newest = (replicas.compactMap(\.newest) + [head.newestGone].compactMap { $0 }).max()
        let time = max(head.distrustedAt, now + account.setting.cursorLead, newest?.time ?? 0)
        try account.withKnownHead { head in
            head.distrustedAt = time
            for session in head.sessions.keys {
                head.sessions[session]?.generation += 1
                head.sessions[session]?.position = nil
            }
        }
        guard restored == .state else { return }
        for replica in replicas { try account.withReplica(replica.id) { $0.resyncAt = max($0.resyncAt, time) } }
    }

    /// Deletes the sessions that were not seen for long and that no cursor needs.
    static func collect(
        _ replicas: [ReplicaHead], before: Instant, in account: inout Account
    ) throws -> Int {
        guard let head = try account.head() else { return 0 }
        let named = replicas.reduce(into: Set<Session>()) { $0.formUnion($1.sessions) }
        let gone = head.sessions.filter {
            $0.value.lastSeen < before && !named.contains(Session(rawValue: $0.key))
        }
        guard !gone.isEmpty else { return 0 }
        try account.withKnownHead { head in for session in gone.keys { head.sessions[session] = nil } }
        return gone.count
    }

    private static func change<T>(
        _ session: Session, in head: inout PrincipalHead, at now: Instant,
        _ body: (inout StoredSession) throws -> T
    ) throws -> T {
        var stored = try head.session(session, at: now)
        let result = try body(&stored)
        head.sessions[session.rawValue] = stored
        return result
    }
}
