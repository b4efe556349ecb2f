// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct CodeTests {
    @Test func `banned calls are not made`() {
        report(Tree.swiftFiles.flatMap(BanRule.violations))
    }

    @Test func `every warning and error of the log has a code`() {
        report(Tree.swiftFiles.flatMap(LogCodeRule.violations))
    }

    @Test(
        arguments: [
            (#"logger.warning("a")"#, 1), (#"logger.error("a", metadata: ["error": "b"])"#, 1),
            (#"logger.error("a", metadata: ["code": "b.c"])"#, 0), (#"logger.error("a", metadata: facts)"#, 1),
            (#"facts["code"] = "b.c"; logger.error("a", metadata: facts)"#, 0),
            ("func f() { facts[\"code\"] = a }\nfunc g() { logger.error(b, metadata: facts) }", 1),
            (#"logger.log(level: level, "a", metadata: ["b": "c"])"#, 1), (#"logger.log(level: .info, "a")"#, 0),
            (#"logger.log(level: .error, "a", metadata: ["code": "b.c"])"#, 0),
            (#"logger.info("a")"#, 0), (#"problems.error("a")"#, 0),
        ])
    func `a line without a code is found`(text: String, expected: Int) {
        #expect(LogCodeRule.violations(in: SourceFile(path: "Sources/Gateway/X.swift", text: text)).count == expected)
    }

    @Test func `one loop drives the machines`() {
        let callers = Tree.swiftFiles.filter { $0.isSource && $0.target != "SyncMachines" }.flatMap { file in
            let words = file.swift.tokens.map(\.text)
            return words.indices.dropLast(2)
                .filter { words[$0...].prefix(3).elementsEqual([".", "handle", "("]) }.map { _ in file.path }
        }
        #expect(callers == ["Sources/Gateway/Drive.swift"])
    }

    @Test func `checks of the compiler are switched off only with a reason`() {
        report(Tree.swiftFiles.flatMap(ReasonRule.violations))
    }

    @Test func `what other targets see has a doc comment`() {
        let targets = Dictionary(grouping: Tree.swiftFiles.filter(\.isSource), by: \.target)
        let requirements = targets.mapValues { Set($0.flatMap { DocumentationRule.requirements(in: $0.swift) }) }
        for (target, files) in targets {
            var owed = requirements[target] ?? []
            if DocumentationRule.stores.contains(target) { owed.formUnion(requirements["StateStore"] ?? []) }
            report(files.flatMap { DocumentationRule.violations(in: $0, requirements: owed) })
        }
    }

    @Test func `doc comments begin with a verb or a noun`() {
        report(Tree.swiftFiles.flatMap(FirstWordRule.violations))
    }

    @Test(
        arguments: [
            ("/// Returns a.\nfunc f()", 0), ("/// A sum.\nfunc f()", 1), ("/// Whether a.\nvar a: Bool", 1),
            ("/// The sum.\nlet f = f()", 0), ("/// Its sum.\n@discardableResult\npackage init?(a: Int)", 1),
            ("/// Of a.\n/// Of b.\nstruct A", 1), ("/// Reads.\n///\n/// What is read.\nstatic func f<T>()", 0),
        ])
    func `a doc comment without a beginning is found`(text: String, expected: Int) {
        #expect(FirstWordRule.violations(in: SourceFile(path: "Sources/A/B.swift", text: text)).count == expected)
    }

    @Test func `calls with three or more arguments have labels`() {
        report(Tree.swiftFiles.flatMap(LabelRule.violations))
    }

    @Test(
        arguments: [
            ("func f(_ a: Int, _ b: Int, _ c: Int)", 1), ("func f(_ a: Int, _ b: Int, c: Int)", 0),
            ("init(_ a: (Int, Int), b: Int, _ c: [Int: Int], _ d: Int)", 1), ("f(_: 1)", 0),
            ("func f(_ a: inout Int, _ b: inout Int, _ c: inout Int)", 0),
        ])
    func `parameters without a label are counted`(text: String, expected: Int) {
        #expect(LabelRule.violations(in: SourceFile(path: "Sources/A/B.swift", text: text)).count == expected)
    }

    @Test(
        arguments: [
            "let a = try! f()", "b as! Int", "Task.detached { }", "Task { await f() }", "DispatchSemaphore(value: 0)",
            "print(1)", "Swift.print(1)", "fatalError()", "let a = Mutex<Int>(1)", "Synchronization.Mutex(1)",
            "public struct S {}", "package extension S {}", "Thread.sleep(1)", "let s = URLSession.shared",
            "try await Task.sleep(for: a)", "let now = ContinuousClock.now", "var a = SystemRandomNumberGenerator()",
            "let a = Date()", "let a = Date.now", "let a = Int.random(in: 0..<9)", "let a = Bool.random()",
            "let a = b.randomElement()", "b.shuffled()", "let a = UUID()", "let a = NIODeadline.now()",
        ])
    func `a banned call is found`(text: String) {
        #expect(BanRule.violations(in: SourceFile(path: "Sources/Gateway/X.swift", text: text)).count == 1)
    }

    @Test(
        arguments: [
            "try !f()", "// try! f()", "let a = \"try! \\(f(\")\")) try!\"", "let a = #\"as! \" print(1)\"#",
            "let a = \"\"\"\n  print(1) \"quoted\" Task { }\n  \"\"\"", "writer.print(1)", "case sleep(Int)",
            "try await sleep(a)", "func print(_ a: Int) {}", "let a = Int.random(in: 0..<9, using: &random)",
            "let a = b.randomElement(using: &random)", "let a = UUID(uuidString: b)",
            "fatalError(\"the store was closed\")", "group.addTask { }",
            "func `print() is fine`() {}", "a.contains(/print(/)", "/* outer /* try! */ print(1) */",
        ])
    func `what only looks like a banned call stays alone`(text: String) {
        #expect(BanRule.violations(in: SourceFile(path: "Sources/Gateway/X.swift", text: text)).isEmpty)
    }

    @Test func `commands may print`() {
        #expect(BanRule.violations(in: SourceFile(path: "Sources/rind/X.swift", text: "print(1)")).isEmpty)
    }

    @Test(
        arguments: [
            ("final class A: @unchecked Sendable {}", 1), ("/// A thing.\nfinal class A: @unchecked Sendable {}", 1),
            ("// Only the reactor's thread uses it.\nfinal class A: @unchecked Sendable {}", 0),
            ("// Confined.\n/// A thing.\n@frozen\nfinal class A: @unchecked Sendable {}", 0),
            ("let a = 1\nnonisolated(unsafe) var b = 1", 1), ("// Set once.\nnonisolated(unsafe) var b = 1", 0),
        ])
    func `a switched-off check needs its reason directly above`(text: String, expected: Int) {
        #expect(ReasonRule.violations(in: SourceFile(path: "Sources/A/B.swift", text: text)).count == expected)
    }

    @Test(
        arguments: [
            ("package struct A {}", 1), ("/// An A.\npackage struct A {}", 0), ("// An A.\npackage struct A {}", 1),
            ("/// An A.\n@frozen\n@inlinable\npackage struct A {}", 0), ("package import SyncModel", 0),
            ("extension A {\n    static package func f() {}\n}", 1), ("package private(set) var a = 1", 1),
            ("enum A {\n    package var b: Int { 1 }\n}", 1), ("let package = Package(name: \"a\")", 0),
            ("package init(stringLiteral value: String) {}", 0),
            ("/// A P.\npackage protocol P {\n    func f(a: () -> Int)\n    /// A.\n    var a: Int { get }\n}", 1),
            ("/// A P.\npackage protocol P {\n    /// F.\n    func f()\n}\nstruct S {\n    func g() {}\n}", 0),
        ])
    func `a declaration without doc comment is found`(text: String, expected: Int) {
        #expect(DocumentationRule.violations(in: SourceFile(path: "Sources/A/B.swift", text: text)).count == expected)
    }

    @Test func `a function that a protocol of the target asks for is documented there`() {
        let text = SwiftText("/// A P.\npackage protocol P {\n    /// F.\n    func f()\n}\nfunc g() {}")
        let requirements = DocumentationRule.requirements(in: text)
        let file = SourceFile(path: "Sources/A/B.swift", text: "package func f() {}\npackage func g() {}")
        #expect(requirements == ["f"])
        #expect(DocumentationRule.violations(in: file, requirements: requirements).map(\.line) == [2])
    }
}
