// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Distinguishes a checkpoint that the backend has forgotten from an ack call with a wrong address: both are answered
/// 404.
///
/// A full stream cures the former, because the backend takes its tokens. If the backend refuses these as well, each
/// pull would start from the beginning for ever. Other devices of the session may still send older tokens.
final class AckRefusals: Sendable {
    /// The greatest number of sessions; beyond it all are forgotten, which costs a stream each.
    private static let maximum = 10_000
    /// The time for which a first refusal counts, in milliseconds.
    ///
    /// Then one more full stream is tried: a pull that was running may have handed out old tokens with a new cursor.
    static let lifetime: Int64 = 3_600_000

    /// The time of each session's first refusal since its tokens were taken last.
    private let refused = NIOLockedValueBox<[String: Instant]>([:])

    /// Notes that a session's tokens were refused.
    ///
    /// - Parameters:
    ///   - session: The session of the tokens.
    ///   - presented: The cursor that they came with, which gives their age.
    ///   - now: The time by the clock of cursors, which may lead the system's.
    /// - Returns: True if they were handed out after an earlier refusal, and none was taken since.
    func note(_ session: String, presented: Cursor?, at now: Instant) -> Bool {
        refused.withLockedValue { refused in
            if let first = refused[session], now.milliseconds(since: first) < Self.lifetime {
                return presented.map { $0.time > first } ?? false
            }
            if refused.count >= Self.maximum { refused.removeAll() }
            refused[session] = now
            return false
        }
    }

    /// Notes that a session's tokens were taken.
    func forget(_ session: String) { refused.withLockedValue { _ = $0.removeValue(forKey: session) } }
}
