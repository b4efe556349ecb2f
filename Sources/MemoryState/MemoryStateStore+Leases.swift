// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension MemoryStateStore {
    /// Takes the lease and reads the context in one transaction.
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?, taking request: LeaseRequest
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer) {
        try await write { contents in
            _ = try (key(principal.rawValue, "principal"), key(request.holder, "lease's holder"))
            let answer = contents.leases.take(request, of: principal)
            if case .taken(_, .some, _) = answer { contents.owners[principal]?.forgetPositions(except: nil) }
            return (try contents.pullContext(principal, session, at: presented), answer)
        }
    }

    /// Moves the end of the lease.
    package func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws {
        try await write { try $0.leases.renew(lease, until: now + milliseconds) }
    }

    /// Frees the lease.
    package func giveBack(_ lease: Lease) async throws {
        try await write { $0.leases.giveBack(lease) }
    }
}
