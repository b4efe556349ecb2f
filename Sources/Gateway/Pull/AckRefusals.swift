// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Tells a checkpoint that the backend has forgotten from a call that leads nowhere: both are answered 404.
///
/// The first is cured by a stream from the beginning, whose tokens the backend takes; where it does not take these
/// either, each pull would begin anew for ever. Other devices of the session may still bring tokens of before.
final class AckRefusals: Sendable {
    /// Of how many sessions it is known; then all are forgotten, which costs a stream each.
    private static let maximum = 10_000
    /// For how long a first refusal counts, in milliseconds.
    ///
    /// Then one more stream from the beginning is tried: a pull that was under way may have brought old tokens with a
    /// new cursor.
    static let lifetime: Int64 = 3_600_000

    /// When a session's tokens were refused first, since they were taken last.
    private let refused = NIOLockedValueBox<[String: Int64]>([:])

    /// Notes that a session's tokens were refused.
    ///
    /// - Parameters:
    ///   - session: Whose.
    ///   - presented: The cursor that they came with, which tells their age.
    ///   - now: Milliseconds since 1970.
    /// - Returns: Whether they were handed out after tokens had been refused before, and none was taken since.
    func note(_ session: String, presented: Cursor?, at now: Int64) -> Bool {
        refused.withLockedValue { refused in
            if let first = refused[session], now - first < Self.lifetime {
                return presented.map { $0.rawValue > first } ?? false
            }
            if refused.count >= Self.maximum { refused.removeAll() }
            refused[session] = now
            return false
        }
    }

    /// Notes that a session's tokens were taken.
    func forget(_ session: String) { refused.withLockedValue { _ = $0.removeValue(forKey: session) } }
}
