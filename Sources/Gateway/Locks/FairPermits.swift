// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Counts running operations, up to a limit that no principal can use up alone.
final class FairPermits: Sendable {
    private let shares: NIOLockedValueBox<FairShares<Principal>>

    init(maximum: Int) { shares = NIOLockedValueBox(FairShares(total: maximum)) }

    /// The number of permits in use.
    var taken: Int { shares.withLockedValue(\.taken) }

    /// True if at least one permit is free.
    var hasRoom: Bool { shares.withLockedValue(\.free) > 0 }

    /// Takes a permit.
    ///
    /// - Throws: ``GatewayFault/pulls`` if there is none for this principal; nothing is counted then.
    func enter(_ principal: Principal) throws {
        guard shares.withLockedValue({ $0.take(1, for: principal) }) else {
            throw GatewayFault.pulls
        }
    }

    /// Gives a permit back.
    func leave(_ principal: Principal) { shares.withLockedValue { $0.giveBack(1, of: principal) } }
}
