// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Every citation leads to something in this repository, or to something that everybody can read.
struct CitationRule {
    /// The numbers of the headings `### Finding N: …` in `docs/FINDINGS.md`.
    let findings: Set<Int>
    /// The names of the targets and files in `Tests`; a file has the name of its type.
    let suites: Set<String>

    // Put together from halves, so that this file does not break its own rule.
    private static let absent = [
        "design" + " §", "design" + ".md", "watermelon" + "-protocol", "jsonl" + "-stream-protocol",
        "model" + "-findings", "protocol" + " reference",
    ]

    init(findings: SourceFile?, tests: [SourceFile]) {
        self.findings = Set(
            (findings?.text ?? "").matches(of: #/(?m)^### Finding ([0-9]+): /#).compactMap { Int($0.1) })
        suites = Set(tests.flatMap { [$0.name.replacing(".swift", with: ""), $0.target] })
    }

    func violations(in file: SourceFile) -> [Violation] {
        // Most files cite nothing, and looking at each line of them takes long.
        let isDocument = file.path.hasSuffix(".md")
        guard
            isDocument
                || (["inding"] + Self.absent).contains(where: { file.text.range(of: $0, options: .literal) != nil })
        else { return [] }
        return file.numberedLines.flatMap { number, text in
            messages(String(text), isDocument: isDocument).map { Violation(file: file, line: number, message: $0) }
        }
    }

    private func messages(_ text: String, isDocument: Bool) -> [String] {
        let cited = text.matches(of: #/(?i)\bfindings? ([0-9]+)(?:(?: and | to |, )([0-9]+))?/#)
            .flatMap { [$0.1, $0.2].compactMap { $0.flatMap { Int($0) } } }
        let named = isDocument ? text.matches(of: #/`([A-Z][A-Za-z]*Tests)`/#).map(\.1) : []
        return Self.absent.filter(text.contains).map { "'\($0)' is not in this repository" }
            + cited.filter { !findings.contains($0) }.map { "docs/FINDINGS.md has no finding \($0)" }
            + named.filter { !suites.contains(String($0)) }.map { "there is no suite \($0)" }
    }
}
