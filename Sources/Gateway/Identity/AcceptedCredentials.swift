// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Remembers the digests of the credentials that the backend has recently accepted, and their principals if the backend
/// named them.
///
/// Any request that the backend accepts renews the acceptance. It does not renew the principal: a backend may give the
/// same cookie to another user.
final class AcceptedCredentials: Sendable {
    /// The greatest number of credentials that are remembered; for others the backend is asked again.
    static let maximum = 50_000

    private struct Entry {
        var acceptedAt: Instant
        var principal: (name: Principal, at: Instant)?
    }

    private let lifetime: Int64
    private let entries = NIOLockedValueBox<[String: Entry]>([:])

    /// Creates an empty set, whose entries are valid for this many milliseconds, the last one included.
    init(lifetime: Int64) { self.lifetime = lifetime }

    /// Returns true if the backend has accepted a credential within the lifetime.
    func isAccepted(_ credential: String, at now: Instant) -> Bool {
        entries.withLockedValue { $0[credential] }.map { isFresh($0.acceptedAt, now) } ?? false
    }

    /// True if the backend has named a caller, so that it has the call for that.
    var hasNamed: Bool { entries.withLockedValue { $0.values.contains { $0.principal != nil } } }

    /// Returns the principal of a credential, if the backend has named it within the lifetime.
    func principal(of credential: String, at now: Instant) -> Principal? {
        guard let known = entries.withLockedValue({ $0[credential] })?.principal, isFresh(known.at, now) else {
            return nil
        }
        return known.name
    }

    /// Notes that the backend has just accepted a credential, and its principal if the backend has named it.
    func accept(_ credential: String, as principal: Principal? = nil, at now: Instant) {
        entries.withLockedValue { entries in
            if entries.count >= Self.maximum, entries[credential] == nil {
                entries = entries.filter { isFresh($0.value.acceptedAt, now) }
                if entries.count >= Self.maximum { entries.removeAll() }
            }
            entries[credential, default: Entry(acceptedAt: now)].acceptedAt = now
            if let principal { entries[credential]?.principal = (principal, now) }
        }
    }

    /// Returns true if a time is within the lifetime.
    ///
    /// A time in the future was noted before the clock went back, so its age is unknown.
    private func isFresh(_ then: Instant, _ now: Instant) -> Bool {
        now >= then && now.milliseconds(since: then) <= lifetime
    }
}
