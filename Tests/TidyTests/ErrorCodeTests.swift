// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct ErrorCodeTests {
    @Test func `every error code of the sources stands in the list of errors, and no other`() throws {
        let page = try #require(Tree.documents.first { $0.path == "docs/ERRORS.md" })
        let written = ErrorCodeRule.codes(inSources: Tree.swiftFiles.filter(ErrorCodeRule.holds))
        let listed = ErrorCodeRule.codes(inDocument: page)
        #expect(written.subtracting(listed).sorted() == [], "not in docs/ERRORS.md")
        #expect(listed.subtracting(written).sorted() == [], "in no source")
        #expect(written.count > 80)
    }

    @Test func `the operator's page has the meanings of the list`() throws {
        let page = try #require(Tree.documents.first { $0.path == "docs/ERRORS.md" })
        let text = MeaningRule.source(from: page)
        let url = Tree.root.appending(path: MeaningRule.path)
        if ProcessInfo.processInfo.environment["RIND_REGENERATE"] != nil { try Data(text.utf8).write(to: url) }
        let committed = try String(contentsOf: url, encoding: .utf8)
        #expect(committed == text, "run: RIND_REGENERATE=1 swift test --filter ErrorCodeTests")
        #expect(text.contains("push.conflict: "))
    }

    @Test(
        arguments: [
            (#"case a = "request.not_json""#, ["request.not_json"]), (#"code: "limit.queue","#, ["limit.queue"]),
            (#"// "request.not_json""#, []), (#""request.""#, []), (#""listen.port""#, []), (#""backend/x""#, []),
            (#""backend.timeout.\(deadline.rawValue)""#, []),
        ])
    func `a code is found wherever it is written out`(text: String, expected: [String]) {
        let file = SourceFile(path: "Sources/Gateway/X.swift", text: text)
        #expect(ErrorCodeRule.codes(inSources: [file]).subtracting(ErrorCodeRule.composed).sorted() == expected)
    }

    @Test func `codes are read from the first column of the tables`() {
        let text = "| `a.b`, `c.d` | 400 | see `e.f` |\ntext `g.h`\n| code | meaning |\n"
        #expect(ErrorCodeRule.codes(inDocument: SourceFile(path: "docs/ERRORS.md", text: text)) == ["a.b", "c.d"])
    }
}
