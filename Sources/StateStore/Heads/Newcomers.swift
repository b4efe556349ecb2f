// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The replicas of a principal whose devices have never come back (finding 27).
package struct Newcomers: Hashable, Sendable {
    /// A replica of which only a first answer has gone out.
    struct Newcomer: Hashable, Sendable {
        var replica = ReplicaID(rawValue: 0)
        var since: Instant = 0
        /// The bytes of its ledger when it was new.
        var bytes = 0
        /// Some bits of its session.
        var session: Int64 = 0
    }

    /// The most replicas that one commit forgets: each may have a large ledger.
    private static let atOnce = 2

    /// The replicas, those that came first at the beginning.
    private(set) var all: [Newcomer] = []

    /// The number of replicas.
    package var count: Int { all.count }

    /// Creates an empty list.
    package init() {}

    mutating func add(_ replica: ReplicaHead, of session: Session, at now: Instant) {
        let bits = session.rawValue.utf8.prefix(8).reduce(Int64(0)) { ($0 &* 31 &+ Int64($1)) & 0xff_ffff }
        all.append(
            Newcomer(
                replica: replica.id, since: now, bytes: replica.layers.reduce(0) { $0 + $1.bytes }, session: bits))
    }

    mutating func remove(_ replica: ReplicaID) { all.removeAll { $0.replica == replica } }

    /// Returns the replicas that have to go when one commits: those that are old, and those for which there is no room.
    ///
    /// The oldest go once they are old, or are from the future. Until then they may be those of devices that all start
    /// at the same time: if the oldest went, these would displace each other in turns, and none would ever get on. So
    /// of those that are not old only very many go. An app that starts over with each sync displaces its own ones: they
    /// are of the session with the most. Of that session the newest goes, or the one before it, by the number of the
    /// replica that commits: otherwise two devices that come in turns would displace only each other.
    func displaced(
        by own: ReplicaID, at now: Instant, _ limits: StateLimits
    ) -> (old: [ReplicaID], young: [ReplicaID]) {
        var (rest, bytes) = (all, all.reduce(0) { $0 + $1.bytes })
        func isOld(_ newcomer: Newcomer) -> Bool {
            let age = now.milliseconds(since: newcomer.since)
            return newcomer.replica != own && (age >= limits.startingTime || age < -limits.startingTime)
        }
        let old = rest.filter(isOld).prefix(min(Self.atOnce, max(0, count - limits.unconfirmedReplicas)))
        rest.removeAll { newcomer in old.contains { $0.replica == newcomer.replica } }
        bytes -= old.reduce(0) { $0 + $1.bytes }
        var young: [ReplicaID] = []
        while young.count + old.count < Self.atOnce, rest.count > limits.unconfirmedReplicas,
            rest.count > limits.startingReplicas || bytes > limits.startingBytes,
            let next = Self.next(of: rest, besides: own)
        {
            rest.removeAll { $0.replica == next.replica }
            bytes -= next.bytes
            young.append(next.replica)
        }
        return (old.map(\.replica), young)
    }

    private static func next(of rest: [Newcomer], besides own: ReplicaID) -> Newcomer? {
        let counts = Dictionary(rest.map { ($0.session, 1) }, uniquingKeysWith: +)
        let others = rest.filter { $0.replica != own }
        let most = others.compactMap { counts[$0.session] }.max()
        let last = others.filter { counts[$0.session] == most }.suffix(2)
        return own.rawValue % 2 == 0 ? last.first : last.last
    }
}

extension Newcomers: Coded {
    package mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(&all) }
}

extension Newcomers.Newcomer: Coded {
    mutating func code(with coder: inout Coder) throws(StateError) {
        var number = replica.rawValue
        try coder.code(&number, &since, &bytes, &session)
        replica = ReplicaID(rawValue: number)
    }
}
