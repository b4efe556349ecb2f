// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import Gateway

@Suite struct FairSharesTests {
    /// Lets expectations take.
    private final class Shares {
        var value: FairShares<String>
        init(total: Int) { value = FairShares(total: total) }
        func take(_ count: Int, for holder: String, leaving reserve: Int = 0) -> Bool {
            value.take(count, for: holder, leaving: reserve)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var total: Int
        /// What others hold when one more comes.
        var others: [Int]
        /// How many places that one gets who takes one after the other.
        var gets: Int
        var testDescription: String { "\(others) of \(total)" }

        static let all = [
            Case(total: 1, others: [], gets: 1), Case(total: 1, others: [1], gets: 0),
            Case(total: 2, others: [], gets: 1), Case(total: 2, others: [1], gets: 1),
            Case(total: 3, others: [], gets: 2), Case(total: 4, others: [], gets: 2),
            Case(total: 64, others: [], gets: 32), Case(total: 64, others: [32], gets: 16),
            Case(total: 64, others: [32, 16], gets: 8), Case(total: 64, others: [32, 16, 8, 4], gets: 2),
            Case(total: 64, others: [1, 1, 1, 1], gets: 30), Case(total: 64, others: [32, 16, 8, 4, 2, 1], gets: 1),
        ]
    }

    @Test(arguments: Case.all)
    func `one alone gets half, and who comes later half of what is left`(_ example: Case) {
        let shares = Shares(total: example.total)
        for (holder, count) in example.others.enumerated() {
            for _ in 0..<count { #expect(shares.take(1, for: "\(holder)")) }
        }
        var count = 0
        while shares.take(1, for: "one more") { count += 1 }
        #expect(count == example.gets)
        shares.value.giveBack(count, of: "one more")
        #expect(shares.value.taken == example.others.reduce(0, +))
    }

    @Test func `many at once are as many one after the other`() {
        for total in [1, 2, 7, 100] {
            let shares = Shares(total: total)
            #expect(shares.value.mostOfOne == (total + 1) / 2)
            #expect(!shares.take(shares.value.mostOfOne + 1, for: "a") && shares.value.taken == 0)
            #expect(shares.take(shares.value.mostOfOne, for: "a") && !shares.take(1, for: "a"))
        }
    }

    @Test func `what is to stay free stays free`() {
        let shares = Shares(total: 100)
        #expect(!shares.take(16, for: "a", leaving: 70) && shares.take(15, for: "a", leaving: 70))
        #expect(!shares.take(1, for: "a", leaving: 70) && shares.take(1, for: "a"))
        #expect(!shares.take(1, for: "b", leaving: 84) && shares.take(1, for: "b", leaving: 83))
    }

    @Test func `nothing is always there and giving back frees others`() {
        let shares = Shares(total: 3)
        #expect(shares.take(0, for: "a") && shares.take(2, for: "a") && shares.take(1, for: "b"))
        #expect(!shares.take(1, for: "c"))
        shares.value.giveBack(1, of: "a")
        #expect(shares.take(1, for: "c") && shares.value.free == 0)
    }

    @Test func `pulls of one principal leave places for those of others`() throws {
        let places = FairPermits(maximum: 40)
        let (ada, bob) = (Principal(rawValue: "ada"), Principal(rawValue: "bob"))
        for _ in 0..<20 { try places.enter(ada) }
        #expect(throws: GatewayFault.pulls) { try places.enter(ada) }
        for _ in 0..<10 { try places.enter(bob) }
        places.leave(ada)
        #expect(places.taken == 29)
    }

    @Test func `there is room until the last permit is taken, and again when one is given back`() throws {
        let permits = FairPermits(maximum: 1)
        let ada = Principal(rawValue: "ada")
        #expect(permits.hasRoom)
        try permits.enter(ada)
        #expect(!permits.hasRoom)
        permits.leave(ada)
        #expect(permits.hasRoom)
    }
}
