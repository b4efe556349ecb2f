// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Shares places, or bytes, between those who want them: who holds much finds less room than who holds little.
///
/// Nobody ends up with more than what is then free. So one alone gets half, the next one half of the rest, and
/// whoever holds nothing always finds something, but for what is too little to be halved.
package struct FairShares<Holder: Hashable & Sendable>: Sendable {
    /// How many there are.
    package let total: Int
    /// How many are taken.
    package private(set) var taken = 0
    private var held: [Holder: Int] = [:]

    /// Shares of so many.
    package init(total: Int) { self.total = total }

    /// How many are free.
    package var free: Int { total - taken }

    /// The most that one alone can ever hold.
    var mostOfOne: Int { total / 2 + total % 2 }

    /// Takes so many more, as if `reserve` were taken already; false, and nothing is taken, where that would be too
    /// many.
    package mutating func take(_ count: Int, for holder: Holder, leaving reserve: Int = 0) -> Bool {
        guard count > 0 else { return true }
        let free = free - reserve
        guard count <= free, held[holder, default: 0] <= free - count - count + 1 else { return false }
        taken += count
        held[holder, default: 0] += count
        return true
    }

    /// Takes so many more whatever the holder has; false, and nothing is taken, where so many are not free.
    package mutating func takeFree(_ count: Int, for holder: Holder) -> Bool {
        guard count <= free else { return false }
        taken += count
        held[holder, default: 0] += count
        return true
    }

    /// Gives so many back.
    package mutating func giveBack(_ count: Int, of holder: Holder) {
        guard count > 0 else { return }
        let rest = held[holder, default: 0] - count
        precondition(rest >= 0, "more is given back than was taken")
        taken -= count
        held[holder] = rest > 0 ? rest : nil
    }
}
