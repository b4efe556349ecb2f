// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOConcurrencyHelpers

/// Limits the memory for the bodies of all running requests and for the data made from them (`[limits] push_memory`),
/// with a fair share for each caller.
package final class ByteBudget: Sendable {
    /// The memory for one pushed record besides its bytes, from the request to the answer.
    ///
    /// It holds the record's id and place, its operation, and the backend's result. With short ids 480 bytes were
    /// measured; the rest is room for longer ones.
    package static let bytesPerRecord = 1_024

    fileprivate let limit: Int
    private let shares: NIOLockedValueBox<FairShares<String>>

    /// Creates a budget of this many bytes.
    package init(limit: Int) {
        self.limit = limit
        shares = NIOLockedValueBox(FairShares(total: limit))
    }

    /// Returns a lease that holds no bytes yet.
    package func lease() -> ByteLease { ByteLease(self) }

    fileprivate func tryTake(_ count: Int, for holder: String) -> Bool {
        shares.withLockedValue { $0.takeFree(count, for: holder) }
    }

    /// Takes a share; a lease that is the only one may take all, since there are no others to deprive.
    fileprivate func take(_ count: Int, for holder: String, beside own: Int) throws {
        let isTaken = shares.withLockedValue { shares in
            shares.taken == own ? shares.takeFree(count, for: holder) : shares.take(count, for: holder)
        }
        guard isTaken else {
            throw GatewayFault.bodies
        }
    }

    fileprivate func giveBack(_ count: Int, of holder: String) {
        shares.withLockedValue { $0.giveBack(count, of: holder) }
    }

    fileprivate func move(_ count: Int, from old: String, to new: String) {
        shares.withLockedValue { shares in
            shares.giveBack(count, of: old)
            _ = shares.takeFree(count, for: new)
        }
    }
}

/// The bytes that one request has taken of a ``ByteBudget``; given back with the last reference to it.
package final class ByteLease: Sendable {
    private let budget: ByteBudget
    /// The bytes held, and the name of their holder, empty until the caller is known.
    private let held = NIOLockedValueBox((count: 0, holder: ""))

    fileprivate init(_ budget: ByteBudget) { self.budget = budget }

    deinit {
        let held = held.withLockedValue { $0 }
        budget.giveBack(held.count, of: held.holder)
    }

    /// Assigns all its bytes, present and future, to the caller of this name.
    package func belongs(to holder: String) {
        let old = held.withLockedValue { held in
            defer { held.holder = holder }
            return held
        }
        budget.move(old.count, from: old.holder, to: holder)
    }

    /// Takes this many bytes more if the budget has them free, whoever uses it; returns false if not.
    func tryTake(_ bytes: Int) -> Bool {
        let holder = held.withLockedValue { $0.holder }
        guard budget.tryTake(bytes, for: holder) else { return false }
        held.withLockedValue { $0.count += bytes }
        return true
    }

    /// Takes this many bytes more.
    ///
    /// - Throws: `GatewayError` with `limit.bodies` (503) if the budget, or the caller's share of it, is used up, and
    ///   with `request.body_too_large` (413) if the whole budget would not suffice.
    package func take(_ bytes: Int) throws {
        let (count, holder) = held.withLockedValue { $0 }
        guard bytes <= budget.limit - count else {
            throw GatewayError.tooLarge("the push takes more memory than [limits] push_memory")
        }
        try budget.take(bytes, for: holder, beside: count)
        held.withLockedValue { $0.count += bytes }
    }
}

extension GatewayError {
    /// Creates the error for a request that is never accepted; `cause` names the limit.
    static func tooLarge(_ cause: String) -> Self {
        GatewayError(fault: .bodyTooLarge, cause: cause)
    }
}
