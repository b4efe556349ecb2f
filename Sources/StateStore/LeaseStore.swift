// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Stores which gateway runs syncs of a principal, where several gateways may share one state (finding 7).
///
/// A lease is a row for each principal, with a fencing number that grows with each take. A gateway that was paused
/// believes in a lease that has passed to another one, so every write of a sync names its number
/// (``RunningLease``), and a write with an old number fails with ``StateError/leaseLost`` and changes nothing.
package protocol LeaseStore: Sendable {
    /// True if other gateways may use the state at the same time, so that syncs need leases.
    var needsLeases: Bool { get }

    /// Takes the principal's lease and reads what ``StateStore/pullContext(principal:session:presented:)`` reads, in
    /// one transaction.
    ///
    /// A lease is taken if it was given back, if it has expired, or if the same holder has it: one holder runs one sync
    /// of a principal at a time. Taking one that another holder has not given back also forgets the positions of the
    /// principal's sessions, because calls of that holder may still arrive at the backend.
    ///
    /// - Returns: The context as of the take; it may be outdated if the lease was not taken.
    func pullContext(
        principal: Principal, session: Session, presented: Cursor?, taking request: LeaseRequest
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer)

    /// Lets a lease that is held last for this many milliseconds from now on.
    ///
    /// - Throws: ``StateError/leaseLost`` if it was given back or has passed to another holder.
    func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws

    /// Gives a lease back; one that is not held is not an error.
    func giveBack(_ lease: Lease) async throws
}

/// A lease that was taken.
package struct Lease: Hashable, Sendable {
    /// The principal whose syncs the holder may run.
    package var principal: Principal
    /// The gateway that holds the lease.
    package var holder: String
    /// The fencing number, which no other take has.
    package var fence: Int64

    /// Creates a lease.
    package init(principal: Principal, holder: String, fence: Int64) {
        self.principal = principal
        self.holder = holder
        self.fence = fence
    }
}

/// A request for a principal's lease.
package struct LeaseRequest: Hashable, Sendable {
    /// The gateway that asks.
    package var holder: String
    /// The number of milliseconds after which the lease may pass to another holder.
    package var lifetime: Int64
    /// The number of milliseconds for which calls of an earlier holder may be on their way after its lease has ended.
    package var callTimeout: Int64
    /// The present time; a database on another machine uses its own clock.
    package var now: Instant
    /// The records that are to be pushed under the lease: their notes are read along.
    package var records: [PushedRecordKey]

    /// Creates a request.
    package init(
        holder: String, lifetime: Int64, callTimeout: Int64, now: Instant, records: [PushedRecordKey] = []
    ) {
        self.records = records
        self.holder = holder
        self.lifetime = lifetime
        self.callTimeout = callTimeout
        self.now = now
    }
}

/// The holder of a lease, for the log.
package struct LeaseHolder: Hashable, Sendable {
    /// The gateway.
    package var name: String
    /// The time of the take, by the clock of the state.
    package var since: Instant

    /// Creates a holder.
    package init(name: String, since: Instant) {
        self.name = name
        self.since = since
    }
}

/// The answer to a request for a lease.
package enum LeaseAnswer: Hashable, Sendable {
    /// The lease was taken.
    ///
    /// - Parameters:
    ///   - lease: The lease.
    ///   - from: The holder that had not given it back; nil if none.
    ///   - distrust: The number of milliseconds for which calls of such a holder may still arrive at the backend; 0 if
    ///     none can.
    case taken(Lease, from: LeaseHolder?, distrust: Int64)
    /// Another gateway holds it.
    case held(LeaseHolder)
}

/// The lease under which the present task writes to the state.
package struct RunningLease: Sendable {
    /// The lease of the present task; nil for writes that are no part of a sync, such as an operator's.
    @TaskLocal package static var current: RunningLease?

    /// The lease, whose number each write checks.
    package let lease: Lease
    /// True if a write gives the lease back in its own transaction.
    package let isGivenBack: Bool

    /// Creates a running lease.
    package init(_ lease: Lease, isGivenBack: Bool = false) {
        self.lease = lease
        self.isGivenBack = isGivenBack
    }
}

// A state that one process owns: its locks are enough.
extension LeaseStore where Self: StateStore {
    /// False: one process owns the state.
    package var needsLeases: Bool { false }

    /// Reads the context; a lease costs nothing and is always taken.
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?, taking request: LeaseRequest
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer) {
        let context = try await pullContext(principal: principal, session: session, presented: presented)
        return (context, .taken(Lease(principal: principal, holder: request.holder, fence: 0), from: nil, distrust: 0))
    }

    /// Does nothing.
    package func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws {}

    /// Does nothing.
    package func giveBack(_ lease: Lease) async throws {}
}
