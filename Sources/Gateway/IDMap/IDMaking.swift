// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Counts, for each principal, the running creates at a backend that makes the ids itself.
///
/// Between the backend's commit and its answer the record's id is unknown. A pull that streamed the record meanwhile
/// would give a device its own record a second time, under the backend's id.
final class IDMaking: Sendable {
    /// The polling interval of a waiting pull, in milliseconds.
    private static let pause: Int64 = 10

    private let clock: any WallClock
    private let open = NIOLockedValueBox<[Principal: Int]>([:])

    init(clock: any WallClock) { self.clock = clock }

    /// Notes that a create begins; ``end(_:)`` follows when its mapping is stored or it has failed.
    func begin(_ principal: Principal) { open.withLockedValue { $0[principal, default: 0] += 1 } }

    /// Notes that a create has ended.
    func end(_ principal: Principal) {
        open.withLockedValue { open in
            let count = open[principal, default: 1] - 1
            open[principal] = count > 0 ? count : nil
        }
    }

    /// Waits until no create of the principal is running.
    ///
    /// - Returns: True if that was in time.
    /// - Throws: `CancellationError`.
    func waitUntilNone(of principal: Principal, atMost limit: Duration) async throws -> Bool {
        var waited: Int64 = 0
        while open.withLockedValue({ $0[principal] != nil }) {
            guard waited < limit.milliseconds else { return false }
            try await clock.wait(milliseconds: Self.pause)
            waited += Self.pause
        }
        return true
    }
}
