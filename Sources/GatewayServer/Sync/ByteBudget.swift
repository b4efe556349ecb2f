// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOConcurrencyHelpers

/// Bounds the memory that the bodies of all running requests take together, with what is made of them
/// (`[limits] push_memory`).
package final class ByteBudget: Sendable {
    /// What one pushed record takes besides its bytes, from the request to the answer.
    ///
    /// That is its id and place, its operation, and what the backend says about it. With short ids 480
    /// bytes were measured; the rest is room for longer ones.
    package static let bytesPerRecord = 1_024

    fileprivate let limit: Int
    private let used = NIOLockedValueBox(0)

    /// A budget of so many bytes.
    package init(limit: Int) { self.limit = limit }

    /// A lease of nothing yet.
    package func lease() -> ByteLease { ByteLease(self) }

    fileprivate func tryTake(_ count: Int) -> Bool {
        used.withLockedValue { used in
            guard count <= limit - used else { return false }
            used += count
            return true
        }
    }

    fileprivate func take(_ count: Int) throws {
        guard tryTake(count) else {
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

    /// Takes so many bytes more where there is room; false where there is none.
    func tryTake(_ bytes: Int) -> Bool {
        guard budget.tryTake(bytes) else { return false }
        count.withLockedValue { $0 += bytes }
        return true
    }

    /// Takes so many bytes more.
    ///
    /// - Throws: `GatewayError` with `limit.bodies` (503) where the budget is used up, and with `request.body_too_large`
    ///   (413) where all of it would not do.
    package func take(_ bytes: Int) throws {
        guard bytes <= budget.limit - count.withLockedValue({ $0 }) else {
            throw GatewayError.tooLarge("the push takes more memory than [limits] push_memory")
        }
        try budget.take(bytes)
        count.withLockedValue { $0 += bytes }
    }
}

extension GatewayError {
    /// A request that is never taken; `cause` says by which limit.
    static func tooLarge(_ cause: String) -> Self {
        GatewayError(
            status: 413, code: "request.body_too_large", message: "There are too many changes for one sync.",
            cause: cause)
    }
}
