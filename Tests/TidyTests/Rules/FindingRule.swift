// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Every finding has the schedule that broke the model, the rule that follows, and the suites that play it.
enum FindingRule {
    private static let parts = ["Schedule", "Rule", "Tests"]

    static func violations(in file: SourceFile) -> [Violation] {
        let headings = file.numberedLines.filter { $0.text.hasPrefix("### Finding ") }
        let ends = headings.dropFirst().map(\.number) + [file.numberedLines.count + 1]
        return zip(headings, ends).flatMap { heading, end in
            let lines = file.numberedLines.filter { (heading.number..<end).contains($0.number) }
            return parts.filter { part in !lines.contains { $0.text.hasPrefix("**\(part).** ") } }
                .map { Violation(file: file, line: heading.number, message: "the finding has no '**\($0).**'") }
        }
    }
}
