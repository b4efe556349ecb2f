// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The figures of a scenario.
protocol Report: Encodable {
    /// The tables and their sentences, for reading.
    var text: String { get }
    /// The figures that have a goal; a missed goal is no failure.
    var outcomes: [Outcome] { get }
    /// False if a figure exceeds its bound, which is a failure; nil if no figure was compared with one.
    var isWithinBounds: Bool? { get }
}

extension Report {
    var outcomes: [Outcome] { [] }
    var isWithinBounds: Bool? { nil }
}

/// A command that measures, and then prints one report.
protocol Scenario: AsyncParsableCommand {
    associatedtype Figures: Report

    /// True if JSON goes to standard output.
    var json: Bool { get }

    /// Starts what it needs, with files in a directory of its own, measures, and stops it all.
    func measure(in directory: URL) async throws -> Figures
}

extension Scenario {
    func run() async throws {
        let report = try await WorkingDirectory.with(measure)
        try Text.publish(report, as: report.text, isJSON: json)
        if report.isWithinBounds == false { throw ExitCode.failure }
    }
}
