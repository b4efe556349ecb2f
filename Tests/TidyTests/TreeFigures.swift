// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `make figures` prints: how large the tree is, and how well it keeps to its shape.
@Suite struct TreeFigures {
    @Test(.enabled(if: ProcessInfo.processInfo.environment["RIND_FIGURES"] == "1", "only for make figures"))
    func `the figures of the tree`() throws {
        let sources = Tree.swiftFiles.filter(\.isSource)
        let production = Tree.productionFiles
        let machine = sources.flatMap { TypeDeclaration.all(in: $0.swift) }.filter(MachineRule.isMachine)
            .max { $0.storedProperties < $1.storedProperties }
        let type = try #require(TypeSizeRule.sizes(in: production).first)
        let rows: [(String, String)] = [
            ("stored properties of the largest machine", "\(machine?.storedProperties ?? 0) (\(machine?.name ?? ""))"),
            ("longest type, lines and files", "\(type.size.lines), \(type.size.files) (\(type.name))"),
            ("drive loops", "\(Self.driveLoops(in: production))"),
            ("functions with three unlabelled parameters", "\(sources.flatMap(LabelRule.violations).count)"),
            ("lines of Gateway", "\(Self.lines(of: sources.filter { $0.target == "Gateway" }))"),
            ("lines of production code", "\(Self.lines(of: production))"),
            ("lines of tests and what they share", "\(Self.lines(of: Tree.swiftFiles) - Self.lines(of: production))"),
            ("words of the glossary", "\(Self.glossary)"),
            ("citations of absent documents", "\(Tree.textFiles.flatMap(Self.citations.violations).count)"),
        ]
        let width = rows.map(\.0.count).max() ?? 0
        let text = rows.map { name, value in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + value + "\n"
        }.joined()
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    @Test(
        arguments: [
            ("struct A {\n    let a: Int\n    var b = 1\n    var c: Int { 1 }\n    static let d = 1\n}", 2),
            ("struct A {\n    func f() {\n        let a = 1\n    }\n    enum B { case c(Int) }\n}", 0),
            ("struct A {\n    var a: [Int] = []\n    private(set) var b: (Int) -> Int\n}", 2),
        ])
    func `stored properties are counted where they belong to a value`(text: String, expected: Int) {
        #expect(TypeDeclaration.all(in: SwiftText(text)).map(\.storedProperties) == [expected])
    }

    private static let citations = CitationRule(
        findings: Tree.documents.first { $0.path == "docs/FINDINGS.md" }, tests: Tree.swiftFiles.filter(\.isTest))

    /// Where Gateway hands an event to a machine.
    private static func driveLoops(in files: [SourceFile]) -> Int {
        files.filter { $0.target == "Gateway" }.reduce(0) { sum, file in
            let tokens = file.swift.tokens
            return sum + tokens.indices.dropFirst().count { tokens[$0].text == "handle" && tokens[$0 - 1].text == "." }
        }
    }

    private static func lines(of files: [SourceFile]) -> Int { files.reduce(0) { $0 + $1.swift.lines.count - 1 } }

    /// The rows of the table below the heading Words.
    private static var glossary: Int {
        let text = Tree.documents.first { $0.path == "docs/ARCHITECTURE.md" }?.text ?? ""
        let section = text.split(separator: "## Words\n").last?.split(separator: "\n## ").first ?? ""
        return max(0, section.split(separator: "\n").count { $0.hasPrefix("|") } - 2)
    }
}
