// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A lease that was taken: it says which gateway runs syncs of a principal, where several may share one state (finding
/// 7).
///
/// A gateway that was paused believes in a lease that has passed to another one, so every write of a sync names its
/// number, and a write with an old number fails with ``StateError/leaseLost`` and changes nothing.
package struct Lease: Hashable, Sendable {
    /// The lease under which the present task writes; nil for writes that are no part of a sync, such as an operator's.
    @TaskLocal package static var current: Lease?

    /// The principal whose syncs the holder may run.
    package var principal: Principal
    /// The gateway that holds the lease.
    package var holder: String
    /// The fencing number, which no other take has.
    package var fence: Int64
    /// True if the next write gives the lease back in its own transaction.
    package var isGivenBack = false

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
    /// The lease was taken, perhaps from a holder that had not given it back; for `distrust` milliseconds calls of
    /// such a holder may still arrive at the backend.
    case taken(Lease, from: LeaseHolder?, distrust: Int64)
    /// Another gateway holds it.
    case held(LeaseHolder)
}
