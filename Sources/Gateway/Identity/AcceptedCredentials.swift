// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// The credentials that the backend has accepted a moment ago, by their digests, and who it said sends them.
///
/// That a credential is accepted is renewed by whatever the backend does with it. Who sends it is not: a backend may
/// give the same cookie to somebody else.
final class AcceptedCredentials: Sendable {
    /// How many are remembered; for the rest the backend is asked again.
    static let maximum = 50_000

    private struct Entry {
        var acceptedAt: Int64
        var principal: (name: Principal, at: Int64)?
    }

    private let lifetime: Int64
    private let entries = NIOLockedValueBox<[String: Entry]>([:])

    /// Nothing yet; what is noted counts for so many milliseconds, the last one included.
    init(lifetime: Int64) { self.lifetime = lifetime }

    /// Whether the backend has accepted a credential within the lifetime.
    func isAccepted(_ credential: String, at now: Int64) -> Bool {
        entries.withLockedValue { $0[credential] }.map { isFresh($0.acceptedAt, now) } ?? false
    }

    /// Who sends a credential, where the backend has said so within the lifetime.
    func principal(of credential: String, at now: Int64) -> Principal? {
        guard let known = entries.withLockedValue({ $0[credential] })?.principal, isFresh(known.at, now) else {
            return nil
        }
        return known.name
    }

    /// Notes that the backend has just accepted a credential, and who it said sends it, where it was asked for that.
    func accept(_ credential: String, as principal: Principal? = nil, at now: Int64) {
        entries.withLockedValue { entries in
            if entries.count >= Self.maximum, entries[credential] == nil {
                entries = entries.filter { isFresh($0.value.acceptedAt, now) }
                if entries.count >= Self.maximum { entries.removeAll() }
            }
            entries[credential, default: Entry(acceptedAt: now)].acceptedAt = now
            if let principal { entries[credential]?.principal = (principal, now) }
        }
    }

    /// What comes from the future was noted before the clock went back: its age is unknown.
    private func isFresh(_ then: Int64, _ now: Int64) -> Bool { now >= then && now - then <= lifetime }
}
