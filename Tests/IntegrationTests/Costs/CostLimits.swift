// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What is counted, as it was counted last, and by how much it may grow before a test fails.
///
/// docs/TESTING.md says under "Costs" how to read the counts and when to change a value here.
enum CostLimits {
    /// Instructions of an optimised build by Swift 6.3 on x86-64, for a line as ``BytePathCostTests`` describes it.
    static let projection = CostLimit("instructions a line, split and projected", counted: 12_795, margin: 3)
    static let conversion = CostLimit("instructions a line with five converted columns", counted: 15_523, margin: 3)
    static let answer = CostLimit("instructions a line, from bytes to answer and ledger", counted: 16_033, margin: 3)

    /// A pull that brings nothing, through the program `rind serve` as `make test` builds it, which is not optimised.
    static let statements = CostLimit("statements of the state an idle pull", counted: 0, margin: 0)
    /// A pull that brings 20 changed records of 10,000, its share of compactions and its confirmation included.
    static let logBytes = CostLimit("bytes in the log a pull of 20 of 10,000", counted: 13_100, margin: 4)
    static let chunksRead = CostLimit("chunks of the ledger read a pull of 20 of 10,000", counted: 0.5, margin: 0)
    static let incrementalStatements = CostLimit(
        "statements of the state a pull of 20 of 10,000", counted: 13, margin: 2)
    static let incrementalAllocations = CostLimit(
        "allocations a pull of 20 of 10,000", counted: 24_200, margin: 3)
    /// An optimised program makes a sixth of them: two in a hundred of these are as many as a tenth of those.
    static let allocations = CostLimit("allocations an idle pull", counted: 3_810, margin: 2)
    /// How often the scheduler finds a thread asleep depends on the machine and on who else uses it: only a few more
    /// changes of thread in each pull exceed this margin for certain.
    static let switches = CostLimit("context switches an idle pull", counted: 16, margin: 75)
}

/// The most that something may cost.
struct CostLimit: Sendable, CustomTestStringConvertible {
    /// What is counted, for how much of it.
    let name: String
    /// The count when the limit was set.
    let counted: Double
    /// How many percent more than that are allowed.
    let margin: Double

    init(_ name: String, counted: Double, margin: Double) {
        self.name = name
        self.counted = counted
        self.margin = margin
    }

    var testDescription: String { name }

    /// The most that is allowed.
    var most: Double { counted * (1 + margin / 100) }

    /// Prints a count, and fails where it is more than the limit allows.
    func check(_ count: Double, sourceLocation: SourceLocation = #_sourceLocation) {
        let isLow = count < counted * (1 - margin / 100)
        let facts = "\(name): \(Self.text(count)), at most \(Self.text(most))"
        print("cost: \(facts)\(isLow ? "; it has fallen: lower the limit in CostLimits.swift" : "")")
        #expect(count <= most, "\(facts): it has become more expensive", sourceLocation: sourceLocation)
    }

    /// A number with one digit after the point, where it has any.
    private static func text(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : String(format: "%.1f", number)
    }
}
