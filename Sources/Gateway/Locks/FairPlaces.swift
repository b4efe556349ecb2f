// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel

/// Counts what runs at the same time, up to a limit of which nobody takes all.
final class FairPlaces: Sendable {
    private let shares: NIOLockedValueBox<FairShares<Principal>>

    init(maximum: Int) { shares = NIOLockedValueBox(FairShares(total: maximum)) }

    /// How many are taken.
    var taken: Int { shares.withLockedValue(\.taken) }

    /// Takes a place.
    ///
    /// - Throws: ``GatewayFault/pulls`` where there is none for this principal; nothing is counted then.
    func enter(_ principal: Principal) throws {
        guard shares.withLockedValue({ $0.take(1, for: principal) }) else {
            throw GatewayFault.pulls
        }
    }

    /// Gives a place back.
    func leave(_ principal: Principal) { shares.withLockedValue { $0.giveBack(1, of: principal) } }
}
