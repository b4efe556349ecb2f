// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `make figures` prints: how large the tree is, and how well it keeps to its shape.
@Suite struct TreeFigures {
    @Test(.enabled(if: ProcessInfo.processInfo.environment["RIND_FIGURES"] == "1", "only for make figures"))
    func `the figures of the tree`() throws {
        let sources = Tree.swiftFiles.filter(\.isSource)
        let testing: Set = ["GatewayTesting", "MemoryState", "DemoBackend", "rind-bench"]
        let production = sources.filter { !testing.contains($0.target) }
        let machine = sources.flatMap { TypeDeclaration.all(in: $0.swift) }.filter(MachineRule.isMachine)
            .max { $0.storedProperties < $1.storedProperties }
        let type = try #require(Self.types(in: production).first)
        let rows: [(String, String)] = [
            ("stored properties of the largest machine", "\(machine?.storedProperties ?? 0) (\(machine?.name ?? ""))"),
            ("longest type, lines and files", "\(type.lines), \(type.files) (\(type.name))"),
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

    /// Types with all their extensions, the longest first.
    static func types(in files: [SourceFile]) -> [(name: String, lines: Int, files: Int)] {
        var lines: [String: Int] = [:]
        var places: [String: Set<String>] = [:]
        for file in files {
            for type in TypeDeclaration.all(in: file.swift) {
                let name = "\(file.target).\(type.name)"
                lines[name, default: 0] += type.length
                places[name, default: []].insert(file.path)
            }
        }
        return lines.map { ($0.key, $0.value, places[$0.key]?.count ?? 0) }.sorted { $0.1 > $1.1 }
    }

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
