// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct FileTests {
    @Test func `the tree is found`() {
        #expect(Tree.exists("Package.swift"))
        #expect(Tree.swiftFiles.count > 20)
    }

    @Test func `every file has its header and is called after a type in it`() {
        report(Tree.swiftFiles.flatMap(FileRule.violations))
    }

    @Test func `no file holds notes to self or paths of a machine`() {
        report(Tree.textFiles.flatMap(TextRule.violations))
    }

    @Test func `links between documents lead somewhere`() {
        report(Tree.documents.flatMap { LinkRule.violations(in: $0, exists: Tree.exists) })
    }

    @Test func `citations lead to findings and suites that exist`() {
        let rule = CitationRule(
            findings: Tree.documents.first { $0.path == "docs/FINDINGS.md" }, tests: Tree.swiftFiles.filter(\.isTest))
        #expect(rule.findings == Set(1...30))
        report(Tree.textFiles.flatMap(rule.violations))
    }

    @Test(
        arguments: [
            ("finding 1", 0), ("Finding 2: x", 1), ("findings 1 and 3", 1), ("`ATests`", 0), ("`BTests`", 1),
            ("design", 0),
            ("design" + " §4", 1),
        ])
    func `a citation that leads nowhere is found`(text: String, expected: Int) {
        let rule = CitationRule(
            findings: SourceFile(path: "docs/FINDINGS.md", text: "# Findings\n### Finding 1: a\n"),
            tests: [SourceFile(path: "Tests/ATests/ATests.swift", text: "struct ATests {}")])
        #expect(rule.violations(in: SourceFile(path: "docs/A.md", text: text)).count == expected)
    }

    @Test func `every finding has its schedule, its rule and its tests`() throws {
        let page = try #require(Tree.documents.first { $0.path == "docs/FINDINGS.md" })
        report(FindingRule.violations(in: page))
    }

    @Test func `a finding without one of its parts is found`() {
        let text = "### Finding 1: a\n**Schedule.** b\n**Rule.** c\n**Tests.** d\n### Finding 2: a\n**Schedule.** b\n"
        let found = FindingRule.violations(in: SourceFile(path: "docs/FINDINGS.md", text: text))
        #expect(found.map(\.line) == [5, 5])
    }

    @Test func `retired words are not used`() {
        report(WordRule.violations(in: Tree.swiftFiles.filter { $0.name != "WordRule.swift" } + Tree.documents))
    }

    @Test(
        arguments: [
            ("Sources/A/B.swift", "let beginSweep = 1", 1), ("Sources/A/B.swift", "let maxSweep = 1", 0),
            ("Sources/A/B.swift", "let key = \"max_sweep\"", 0), ("Sources/A/B.swift", "// a Sweep, it is", 1),
            ("Sources/A/B.swift", "// `max_sweep`", 0), ("docs/A.md", "It is settled.", 1),
            ("docs/A.md", "```\nsweep\n```", 0), ("CHANGELOG.md", "sweep", 0),
            ("Sources/A/B.swift", "let place = 1", 1), ("Tests/A/B.swift", "let place = 1", 0),
            ("Sources/A/B.swift", "// in one place", 0), ("Sources/A/B.swift", "let isTold = 1", 1),
            ("Sources/A/B.swift", "let foldableDeltas = 1", 1), ("Sources/A/B.swift", "// Nobody knows it", 1),
            ("Tests/A/B.swift", "@Test func `a \u{70}erson pulls`() {}", 1), ("docs/A.md", "in the third person", 0),
            ("Sources/A/B.swift", "log(\"for people\")", 1), ("Sources/A/B.swift", "let a = \"people\"", 0),
            ("Sources/A/B.swift", "let a = \"\"\"\n  which nobody knows\n  \"\"\"", 1),
            ("Sources/A/B.swift", "// somebody else", 1), ("Sources/A/B.swift", "log(\"Somebody else did.\")", 0),
        ])
    func `a retired word is found in names, prose and texts`(path: String, text: String, expected: Int) {
        #expect(WordRule.violations(in: [SourceFile(path: path, text: text)]).count == expected)
    }

    @Test(
        arguments: [
            ("Sources/A/B.swift", "struct B {}", 0), ("Sources/A/B.swift", "struct C {}", 1),
            ("Sources/A/B+C.swift", "extension B {}", 0), ("Sources/A/B+C.swift", "extension C {}", 1),
            ("Sources/A/C.swift", "extension B.C {}", 0), ("Sources/A/main.swift", "f()", 0),
            ("Sources/A/Placeholder.swift", "enum Placeholder {}", 1), ("Sources/A/B.swift", "// struct B", 1),
            ("Sources/A/B.swift", "struct BC {}; struct BD {}", 0),
            ("Sources/A/B.swift", "struct BC {}; struct D {}", 1),
            ("Sources/A/Bs.swift", "struct C {}; struct D {}", 0), ("Sources/A/Bs.swift", "struct C {}", 1),
            ("Sources/A/DoIt.swift", "func doIt() {}", 0), ("Tests/ATests/Support.swift", "func f() {}", 0),
        ])
    func `a file's name is held against its types`(path: String, text: String, expected: Int) {
        let text = FileRule.header.joined(separator: "\n") + "\n" + text
        #expect(FileRule.violations(in: SourceFile(path: path, text: text)).count == expected)
    }

    @Test(arguments: ["struct B {}", "\n// Copyright 2026 the Rind authors\nstruct B {}"])
    func `a missing header is found`(text: String) {
        let found = FileRule.violations(in: SourceFile(path: "Sources/A/B.swift", text: text))
        #expect(found.map(\.description).first?.hasPrefix("Sources/A/B.swift:1: the file must begin") == true)
    }

    @Test func `a note to self and a machine's path are found where they stand`() {
        let text = "one\n// " + "TO" + "DO: two\nthree \"" + "/ho" + "me/me\"\n"
        let found = TextRule.violations(in: SourceFile(path: "docs/A.md", text: text))
        #expect(found.map(\.line) == [2, 3])
    }

    @Test(
        arguments: [
            ("[a](B.md)", 0), ("[a](C.md)", 1), ("[a](../README.md#top) and [b](./C.md)", 1), ("[a](#top)", 0),
            ("[a](https://example.org/C.md)", 0), ("```\n[a](C.md)\n```", 0), ("![a](C.png)", 1),
        ])
    func `a link is followed from the document's own folder`(text: String, expected: Int) {
        let exists: (String) -> Bool = { ["docs/B.md", "README.md"].contains($0) }
        #expect(LinkRule.violations(in: SourceFile(path: "docs/A.md", text: text), exists: exists).count == expected)
    }
}
