// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension Accounts {
    /// Takes the principal's lease and reads what a pull or push begins with (``ContextRule``), in one transaction.
    ///
    /// A lease is taken if it was given back, if it has expired, or if the same holder has it: one holder runs one sync
    /// of a principal at a time. Taking one that another holder has not given back also forgets the positions of the
    /// principal's sessions, because calls of that holder may still arrive at the backend. Where one process owns the
    /// state, a lease costs nothing and is always taken.
    ///
    /// - Returns: The context as of the take; it may be outdated if the lease was not taken.
    package func take(
        _ request: LeaseRequest, of principal: Principal, session: Session, presented: Cursor?
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer) {
        _ = try (key(principal.rawValue, "principal"), key(request.holder, "lease's holder"))
        let rule = { (account: inout Account) in
            try ContextRule.context(of: &account, session: session, presented: presented, pushing: request.records)
        }
        guard let leases else {
            let lease = Lease(principal: principal, holder: request.holder, fence: 0)
            return (try await read(principal, rule), .taken(lease, from: nil, distrust: 0))
        }
        var taken: LeaseAnswer?
        do {
            let context = try await look(
                principal,
                loading: { lookups in
                    let (answer, rows) = try await leases.take(
                        request, of: principal, deleting: SessionRules.moveKey(principal.owner), loading: lookups)
                    taken = answer
                    return rows
                }, rule)
            guard let taken else { throw StateError.failed("a context was read without a lease") }
            return (context, taken)
        } catch {
            // Nobody else would give it back, and others would wait for its end.
            if case .taken(let lease, _, _) = taken { try? await leases.giveBack(lease) }
            throw error
        }
    }

    /// Lets a lease that is held last for this many milliseconds from now on.
    ///
    /// - Throws: ``StateError/leaseLost`` if it was given back or has passed to another holder.
    package func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws {
        try await leases?.renew(lease, for: milliseconds, at: now)
    }

    /// Gives a lease back; one that is not held is not an error.
    package func giveBack(_ lease: Lease) async throws { try await leases?.giveBack(lease) }
}
