// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Remembers the credential under which the position of each session was stored, where sessions have names of their own
/// (`[identity] session`).
///
/// If one name stands for two sessions of the backend after all, as after a new login, a position of the one must not
/// count for the other: its stream would begin behind lines that the device never got. So a position counts only for
/// the credential that stored it, and the backend is asked for any other.
final class PositionHolders: Sendable {
    /// The greatest number of sessions; beyond it all are forgotten, which costs a question each.
    private static let maximum = 50_000
    private let holders = NIOLockedValueBox<[String: String]>([:])

    /// Notes that a session's position was stored under a credential.
    func note(_ identity: CallerIdentity) {
        holders.withLockedValue { holders in
            let key = Self.key(identity)
            if holders.count >= Self.maximum, holders[key] == nil { holders.removeAll() }
            holders[key] = identity.credential
        }
    }

    /// Returns true if the position of the caller's session was stored under their credential.
    func isHeld(by identity: CallerIdentity) -> Bool {
        holders.withLockedValue { $0[Self.key(identity)] == identity.credential }
    }

    private static func key(_ identity: CallerIdentity) -> String {
        "\(identity.principal.rawValue):\(identity.session.rawValue)"
    }
}
