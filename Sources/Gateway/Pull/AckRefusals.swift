// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Tells a checkpoint that the backend has forgotten from a call that leads nowhere: both are answered 404.
///
/// The first is cured by a stream from the beginning, whose tokens the backend takes; where it does not take these
/// either, each pull would begin anew for ever.
final class AckRefusals: Sendable {
    /// Of how many sessions it is known; then all are forgotten, which costs a stream each.
    private static let maximum = 10_000

    /// With which cursor a session's tokens were refused first, since they were taken last.
    private let refused = NIOLockedValueBox<[String: Cursor?]>([:])

    /// Notes that a session's tokens were refused.
    ///
    /// - Returns: Whether tokens were refused before that came with another cursor, and none was taken since.
    func note(_ session: String, presented: Cursor?) -> Bool {
        refused.withLockedValue { refused in
            if let earlier = refused[session] { return earlier != presented }
            if refused.count >= Self.maximum { refused.removeAll() }
            refused[session] = .some(presented)
            return false
        }
    }

    /// Notes that a session's tokens were taken.
    func forget(_ session: String) { refused.withLockedValue { _ = $0.removeValue(forKey: session) } }
}
