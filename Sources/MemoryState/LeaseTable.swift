// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Holds the leases of all principals.
struct LeaseTable: Sendable {
    private struct Row {
        /// The holder; nil while nobody holds the lease.
        var holder: LeaseHolder?
        var fence: Int64
        var expiresAt: Instant
        /// The time until which calls of an earlier holder may arrive at the backend.
        var distrustUntil: Instant = .earliest
    }

    private var rows: [Principal: Row] = [:]
    private var fence: Int64 = 0

    /// Takes a lease, unless another holder has it.
    mutating func take(_ request: LeaseRequest, of principal: Principal) -> LeaseAnswer {
        let (old, now) = (rows[principal], request.now)
        let other = old?.holder.flatMap { $0.name == request.holder ? nil : $0 }
        if let other, let old, old.expiresAt > now { return .held(other) }
        fence += 1
        var row = Row(
            holder: LeaseHolder(name: request.holder, since: now), fence: fence, expiresAt: now + request.lifetime,
            distrustUntil: old?.distrustUntil ?? .earliest)
        if other != nil, let old {
            // One life more, because the clocks of gateways do not go alike.
            row.distrustUntil = max(row.distrustUntil, old.expiresAt + request.lifetime + request.callTimeout)
        }
        rows[principal] = row
        return .taken(
            Lease(principal: principal, holder: request.holder, fence: fence), from: other,
            distrust: max(0, row.distrustUntil.milliseconds(since: now)))
    }

    /// Checks that no other take has followed.
    func check(_ lease: Lease) throws(StateError) {
        guard rows[lease.principal]?.fence == lease.fence else { throw .leaseLost }
    }

    mutating func renew(_ lease: Lease, until end: Instant) throws(StateError) {
        try check(lease)
        guard rows[lease.principal]?.holder != nil else { throw .leaseLost }
        rows[lease.principal]?.expiresAt = end
    }

    mutating func giveBack(_ lease: Lease) {
        if rows[lease.principal]?.fence == lease.fence { rows[lease.principal]?.holder = nil }
    }
}
