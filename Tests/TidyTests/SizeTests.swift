// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct SizeTests {
    @Test func `files and functions stay small`() {
        report(Tree.swiftFiles.flatMap(SizeRule.violations))
    }

    @Test func `types stay small, their extensions included`() {
        report(TypeSizeRule.violations(in: Tree.productionFiles))
    }

    @Test func `a type that may be longer is still longer`() {
        let sizes = TypeSizeRule.sizes(in: Tree.productionFiles)
        for (name, limit) in TypeSizeRule.exceptions {
            let size = sizes.first { $0.name == name }?.size ?? .init(lines: 0, files: 0)
            #expect(
                size.lines > TypeSizeRule.maximum.lines || size.files > TypeSizeRule.maximum.files,
                "'\(name)' needs no exception any more")
            #expect(limit.lines - size.lines < 50, "the limit of '\(name)' can be lowered to \(size.lines)")
        }
    }

    @Test(arguments: [(100, 4, 0), (101, 4, 1), (10, 5, 1)])
    func `a type may have four hundred lines in four files`(length: Int, count: Int, expected: Int) {
        let body = String(repeating: "\n", count: length - 1)
        let files = (0..<count).map { index in
            let word = index == 0 ? "struct" : "extension"
            return SourceFile(path: "Sources/X/A\(index).swift", text: "\(word) A {\(body)}\nextension String {\n}\n")
        }
        #expect(TypeSizeRule.violations(in: files, exceptions: [:]).count == expected)
    }

    @Test func `machines have few stored properties`() {
        report(Tree.swiftFiles.flatMap(MachineRule.violations))
    }

    @Test(arguments: [(8, 0), (9, 1)]) func `a machine may have eight stored properties`(count: Int, expected: Int) {
        let text = "struct PullMachine {\n" + (0..<count).map { "    var a\($0) = 1\n" }.joined() + "}\n"
        #expect(
            MachineRule.violations(in: SourceFile(path: "Sources/SyncMachines/A.swift", text: text)).count == expected)
    }

    @Test(
        arguments: [
            ("func f() {\n\n}", 3),
            ("func f(\n    a: Int = { 1 }(),\n    b: [Int] = []\n) async throws -> Int\nwhere A: B {\n}", 6),
            ("init?(_ text: String) {\n    // }\n    let a = \"}\"\n}", 4),
            ("var a: Int {\n    1\n}", 3),
            ("subscript(a: Int) -> Int {\n    1\n}", 3),
            ("static func < (a: Self, b: Self) -> Bool {\n    true\n}", 3),
            ("@Test func `a name with { in it`() {\n}", 2),
        ])
    func `a function is measured from its first word to its brace`(text: String, length: Int) {
        #expect(SizeRule.functions(in: SwiftText(text)).map(\.length) == [length])
    }

    @Test(
        arguments: [
            "protocol P {\n    func f() -> Int\n    init()\n    func g()\n}\nstruct S {\n}",
            "let a = S.init(b: 1)\nif a {\n}", "var a: Int = 1\nlet b = { 1 }", "var a: S\nlet b = { 1 }",
        ])
    func `what has no body is not measured`(text: String) {
        #expect(SizeRule.functions(in: SwiftText(text)).isEmpty)
    }

    @Test(arguments: [(70, 0), (71, 1)])
    func `a function may have seventy lines`(length: Int, expected: Int) {
        let text = "func f() {\n" + String(repeating: "    g()\n", count: length - 2) + "}\n"
        #expect(SizeRule.violations(in: SourceFile(path: "Sources/A/B.swift", text: text)).count == expected)
    }

    @Test(arguments: [(500, 0), (501, 1)])
    func `a file may have five hundred lines`(length: Int, expected: Int) {
        let text = String(repeating: "\n", count: length)
        #expect(SizeRule.violations(in: SourceFile(path: "Sources/A/B.swift", text: text)).count == expected)
    }
}
