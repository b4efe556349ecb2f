// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOConcurrencyHelpers

/// Bounds the memory that the bodies of all running requests take together.
package final class ByteBudget: Sendable {
    private let limit: Int
    private let used = NIOLockedValueBox(0)

    /// A budget of so many bytes.
    package init(limit: Int) { self.limit = limit }

    /// A lease of nothing yet.
    package func lease() -> ByteLease { ByteLease(self) }

    fileprivate func take(_ count: Int) throws {
        let fits = used.withLockedValue { used in
            guard count <= limit - used else { return false }
            used += count
            return true
        }
        guard fits else {
            throw GatewayError(
                status: 503, code: "limit.bodies", message: "The server is busy. Please try again in a moment.",
                retryAfter: 5)
        }
    }

    fileprivate func giveBack(_ count: Int) { used.withLockedValue { $0 -= count } }
}

/// What one request has taken of a ``ByteBudget``; given back with the last reference to it.
package final class ByteLease: Sendable {
    private let budget: ByteBudget
    private let count = NIOLockedValueBox(0)

    fileprivate init(_ budget: ByteBudget) { self.budget = budget }

    deinit { budget.giveBack(count.withLockedValue { $0 }) }

    /// Takes so many bytes more.
    ///
    /// - Throws: `GatewayError` with `limit.bodies` (503) where the budget is used up.
    package func take(_ bytes: Int) throws {
        try budget.take(bytes)
        count.withLockedValue { $0 += bytes }
    }
}
