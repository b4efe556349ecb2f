// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Holds `docs/PROTOCOL.md` and the tests of the rules together.
@Suite struct ProtocolPageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    @Test func `the page names every test of a rule, and no test that isn't there`() throws {
        let page = try Self.text(of: Self.folder.appending(path: "../../../docs/PROTOCOL.md"))
        let named = Set(page.matches(of: /`((?:pull|push) rule \d+: [^`]+)`/).map { String($0.output.1) })
        var tests: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil) {
            let source = try Self.text(of: file)
            tests.formUnion(source.matches(of: /func `((?:pull|push) rule \d+: [^`]+)`/).map { String($0.output.1) })
        }
        #expect(tests.count > 24 && tests.symmetricDifference(named) == [])
    }

    @Test func `every rule has a test`() throws {
        let page = try Self.text(of: Self.folder.appending(path: "../../../docs/PROTOCOL.md"))
        for (kind, count) in [("pull", 13), ("push", 11)] {
            for rule in 1...count { #expect(page.contains("`\(kind) rule \(rule): "), "\(kind) rule \(rule)") }
        }
    }

    private static func text(of url: URL) throws -> String {
        String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }
}
