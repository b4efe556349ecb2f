// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct ImportTests {
    @Test func `every target imports only what its row allows`() {
        report(Tree.swiftFiles.flatMap(ImportRule.violations))
    }

    @Test func `the table has a row for every target of the tree, and no other`() {
        let withCode = Tree.targets.subtracting(["CAllocationCount", "CCurl", "CMalloc", "CPQ", "CZlib", "Fixtures"])
        #expect(Set(ImportTable.rows.keys) == withCode)
    }

    @Test(arguments: ImportTable.rows.keys.filter { !$0.hasSuffix("Tests") }.sorted())
    func `imports run downwards only`(target: String) throws {
        let floor = try #require(ImportTable.floor(of: target), "\(target) stands on no floor")
        for module in ImportTable.rows[target, default: []].sorted() {
            guard let below = ImportTable.floor(of: module) else { continue }
            #expect(below < floor, "\(target) may not stand on \(module)")
        }
    }

    @Test(arguments: ImportTable.pure.sorted())
    func `a pure target imports only pure targets`(target: String) throws {
        let allowed = try #require(ImportTable.allowed(in: target))
        #expect(allowed.isSubset(of: ImportTable.pure))
    }

    @Test(
        arguments: [
            ("CCurl", ["Curl"]), ("CMalloc", ["Gateway"]), ("CPQ", ["Postgres"]),
            ("CZlib", ["DemoBackend", "DemoBackendTests", "Gzip"]),
            ("GRDB", ["DemoBackend", "IntegrationTests", "SQLiteState", "StateStoreTests"]),
            ("ArgumentParser", ["rind", "rind-bench"]),
        ])
    func `what is dangerous or large has one door`(module: String, doors: [String]) {
        #expect(ImportTable.rows.filter { $0.value.contains(module) }.keys.sorted() == doors)
    }

    @Test func `the demo backend uses nothing of the gateway but JSONBytes and zlib`() {
        let own = Set(ImportTable.floors.joined())
        #expect(ImportTable.rows["DemoBackend", default: []].intersection(own) == ["CZlib", "JSONBytes"])
    }

    @Test(
        arguments: [
            "import GRDB", "package import GRDB", "@preconcurrency import GRDB", "private import struct GRDB.Row",
            "#if canImport(GRDB)\nimport GRDB\n#endif", "import GRDB.Something", "import JSONBytes; import GRDB",
            "import FoundationNetworking", "import Foundation",
        ])
    func `an import is found however it is written`(text: String) {
        #expect(ImportRule.violations(in: SourceFile(path: "Sources/LineProjection/X.swift", text: text)).count == 1)
    }

    @Test(arguments: ["// import GRDB", "let text = \"import GRDB\"", "import SyncModel", "/* import GRDB */"])
    func `what is no import or is allowed stays alone`(text: String) {
        #expect(ImportRule.violations(in: SourceFile(path: "Sources/LineProjection/X.swift", text: text)).isEmpty)
    }
}
