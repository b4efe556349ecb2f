// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Holds `docs/TROUBLESHOOTING.md` and the tests of its symptoms together.
@Suite struct TroubleshootingPageTests {
    @Test func `every symptom of the page has a test of its name, and every such test its symptom`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        var tests: [String] = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.lastPathComponent.hasSuffix("SymptomTests.swift") {
            let source = try String(contentsOf: file, encoding: .utf8)
            tests += source.matches(of: /func `([^`]+)`/).map { String($0.output.1) }
        }
        let symptoms = try TroubleshootingPage().symptoms.map(\.name)
        #expect(tests.sorted() == symptoms.sorted())
        #expect(symptoms.count > 15)
    }

    @Test func `the table at the head leads to every symptom, in the page's order`() throws {
        let page = try TroubleshootingPage()
        #expect(page.listed == page.symptoms.map(\.name))
    }

    @Test func `every symptom begins with an example, and every example shows more than left-out text`() throws {
        for symptom in try TroubleshootingPage().symptoms {
            #expect(!symptom.examples.isEmpty, "\(symptom.name)")
            for example in symptom.examples {
                #expect(example.output.joined().count { $0.isLetter } > 3, "\(example.command)")
            }
        }
    }

    @Test func `an example is a block that begins with a prompt, and its command may go on`() throws {
        let page = TroubleshootingPage(
            text: "## `a` b\n```\n$ one \\\n  two\nthree\n```\n```sh\nno\n```\n| [`a` b](#a-b) | x |\n")
        let symptom = try #require(page.symptom(ofTest: "`a b`()"))
        #expect(symptom.examples.map(\.command) == ["one \\\n  two"])
        #expect(symptom.examples.map(\.output) == [["three"]] && page.listed == ["a b"])
    }

    @Test(
        arguments: [
            ("2026-11-24T15:54:59.212Z x", "TIME x"), ("replica=5cf545f28f6827ab status=409", "replica=ID status=409"),
            ("duration_ms=15", "duration_ms=N"), ("a  b\n c", "a b c"), ("cursor 1795535627163", "cursor N"),
        ])
    func `outputs are compared without times, ids and lengths`(text: String, expected: String) {
        #expect(TroubleshootingPage.fixedText(of: text) == expected)
    }
}
