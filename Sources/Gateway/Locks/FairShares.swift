// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Shares permits, or bytes, among holders: one that has much gets less than one that has little.
///
/// No holder ends up with more than what is then free. A single holder can thus get half, the next one half of the
/// rest, and a holder without a share always gets something, unless the rest is too little to be halved.
package struct FairShares<Holder: Hashable & Sendable>: Sendable {
    /// The number of units.
    package let total: Int
    /// The number of units that are taken.
    package private(set) var taken = 0
    private var held: [Holder: Int] = [:]

    /// Creates shares of this many units.
    package init(total: Int) { self.total = total }

    /// The number of free units.
    package var free: Int { total - taken }

    /// The most that a single holder can ever have.
    var mostOfOne: Int { total / 2 + total % 2 }

    /// Takes this many more, as if `reserve` were taken already; returns false, and takes nothing, if that would be too
    /// many.
    package mutating func take(_ count: Int, for holder: Holder, leaving reserve: Int = 0) -> Bool {
        guard count > 0 else { return true }
        let free = free - reserve
        guard count <= free, held[holder, default: 0] <= free - count - count + 1 else { return false }
        taken += count
        held[holder, default: 0] += count
        return true
    }

    /// Takes this many more regardless of what the holder has; returns false, and takes nothing, if fewer are free.
    package mutating func takeFree(_ count: Int, for holder: Holder) -> Bool {
        guard count <= free else { return false }
        taken += count
        held[holder, default: 0] += count
        return true
    }

    /// Gives this many back.
    package mutating func giveBack(_ count: Int, of holder: Holder) {
        guard count > 0 else { return }
        let rest = held[holder, default: 0] - count
        precondition(rest >= 0, "more is given back than was taken")
        taken -= count
        held[holder] = rest > 0 ? rest : nil
    }
}
