// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel
import Testing

/// A document and what was said about it.
private struct Reading {
    var document: Document
    var diagnostics: [Diagnostic]

    init(_ bytes: [UInt8]) {
        var problems = Problems()
        document = Document(bytes: bytes, name: "a.ini", problems: &problems)
        diagnostics = problems.diagnostics()
    }

    init(_ text: String) { self.init(Array(text.utf8)) }

    var messages: [String] { diagnostics.map { "\($0.position.line):\($0.position.column) \($0.message)" } }

    func value(_ section: String, _ key: String) -> String? {
        document.section(section)?.entry(key)?.value.string
    }
}

@Suite struct LexerTests {
    @Test func `sections, keys and values know where they stand`() throws {
        let reading = Reading("# c\n[a]\nkey =  some value  ; text\n[table  x] ; text\nb=1\n")
        #expect(reading.messages == [])
        let section = try #require(reading.document.section("a"))
        let entry = try #require(section.entry("key"))
        #expect(entry.key.span == Span(source: 0, line: 3, column: 1, length: 3))
        #expect(entry.value.string == "some value")
        #expect(entry.value.span == Span(source: 0, line: 3, column: 8, length: 10))
        let named = try #require(reading.document.sections.last)
        #expect(named.kind.value == "table" && named.name?.value == "x" && named.title == "[table x]")
        #expect(named.name?.span == Span(source: 0, line: 4, column: 9, length: 1))
    }

    @Test(arguments: [
        ("k = a;b", "a;b"), ("k = a ;b", "a"), ("k = a\t; b", "a"), ("k = ; b", ""), ("k =", ""),
        ("k = \"a ; b\" ; c", "\"a ; b\""), ("k = {\"a\": 1 ; 2} ; c", "{\"a\": 1 ; 2}"),
        ("k = \"a \\\" ; b\" ; c", "\"a \\\" ; b\""), ("k = a = b", "a = b"), ("k = # a", "# a"),
        ("k = a\n  b\n\tc ; d\n  ; e\n  f", "a\nb\nc\nf"), ("k = a\n\n  b\n# c\n  d", "a\nb\nd"),
        ("k =\n  a", "a"), ("k = {\n  \"a\": 1 ; 2\n  }", "{\n\"a\": 1 ; 2\n}"), ("k = ${A;B} ; c", "${A;B}"),
        ("k = a\r\n  b\r", "a\nb"),
    ])
    func `a value ends where the grammar says`(text: String, value: String) {
        let reading = Reading("[s]\n\(text)\n")
        #expect(reading.value("s", "k") == value)
        #expect(reading.messages == [])
    }

    @Test func `text in a continuation line keeps its own position`() throws {
        let reading = Reading("[s]\nk = a\n    bc")
        let value = try #require(reading.document.section("s")?.entry("k")?.value)
        let last = try #require(value.split(on: "\n").last)
        #expect(last.span == Span(source: 0, line: 3, column: 5, length: 2))
        #expect(value.endSpan == Span(source: 0, line: 3, column: 7))
    }

    @Test func `a byte order mark and CR LF are no problem`() {
        let reading = Reading([0xEF, 0xBB, 0xBF] + Array("[s]\r\nk = v\r\n".utf8))
        #expect(reading.messages == [])
        #expect(reading.value("s", "k") == "v")
        #expect(reading.document.sections.first?.span.column == 1)
    }

    @Test func `columns count characters, not bytes`() {
        let reading = Reading("[s]\nk = äöü \"x")
        #expect(reading.messages == ["2:9 this quote is never closed"])
    }

    @Test(
        arguments: [
            ([0x5B, 0x73, 0x5D, 0x0A, 0x6B, 0x3D, 0xFF, 0xFE, 0x0A], "2:3 this is not UTF-8"),
            ([0x5B, 0x73, 0x5D, 0x0A, 0x6B, 0x3D, 0xC0, 0x80], "2:3 this is not UTF-8"),
            ([0x5B, 0x73, 0x5D, 0x0A, 0x6B, 0x3D, 0xED, 0xA0, 0x80], "2:3 this is not UTF-8"),
            ([0x5B, 0x73, 0x5D, 0x0A, 0x6B, 0x3D, 0xF0, 0x9F], "2:3 this is not UTF-8"),
            ([0x5B, 0x73, 0x5D, 0x0A, 0x6B, 0x3D, 0x00], "2:3 control character U+0000 in the file"),
            ([0x5B, 0x73, 0x5D, 0x0A, 0x6B, 0x3D, 0x1B, 0x5B], "2:3 control character U+001B in the file"),
            ([0xFF, 0xFE, 0x5B, 0x00], "1:1 the file is UTF-16, expected UTF-8"),
            ([0xFE, 0xFF, 0x00, 0x5B], "1:1 the file is UTF-16, expected UTF-8"),
        ] as [([UInt8], String)])
    func `bytes that are no text are named with their position`(bytes: [UInt8], message: String) {
        #expect(Reading(bytes).messages == [message])
    }

    @Test func `control characters of a file never reach the terminal`() throws {
        let reading = Reading("[s]\n\u{1B}[2Jx = 1\n")
        #expect(!reading.diagnostics.isEmpty)
        for diagnostic in reading.diagnostics { #expect(!diagnostic.rendered.unicodeScalars.contains("\u{1B}")) }
    }

    @Test func `a file of ten megabytes is refused with its size`() {
        let reading = Reading([UInt8](repeating: 0x61, count: 10 << 20))
        #expect(reading.messages == ["1:1 the file has 10485760 bytes, expected at most 1048576"])
        #expect(reading.document.sections.isEmpty)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["a\n", "[s]\n", " x\n", "a=\"\n", "a=1\n", "{=\n", "\0\n"])
    func `a megabyte of one line over and over is read in time and with bounded complaints`(line: String) {
        let reading = Reading("[s]\nk = v\n" + String(repeating: line, count: (1 << 20) / line.utf8.count - 8))
        #expect(reading.diagnostics.count <= Problems.limit + 1)
    }

    @Test func `a random file never stops the process`() {
        var generator = SeededGenerator(seed: 42)
        let parts = [
            "[", "]", "=", "\"", "\\", "{", "}", "$", "${", ";", " ;", "\n", "\n ", "#", "a", " ", "\r", "é", "@file:",
        ]
        for _ in 0..<500 {
            let text = (0..<40).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            let reading = Reading(text)
            for diagnostic in reading.diagnostics { #expect(!diagnostic.rendered.isEmpty, "\(text)") }
        }
    }

    @Test func `a repeated key keeps the first and points at both`() throws {
        let reading = Reading("[s]\nk = 1\nk = 2\n[s]\nk = 3\nj = 4\n")
        #expect(reading.value("s", "k") == "1")
        #expect(reading.value("s", "j") == "4")
        #expect(
            reading.messages == [
                "3:1 key 'k' is set twice in [s]", "4:1 section [s] appears twice", "5:1 key 'k' is set twice in [s]",
            ])
        #expect(reading.diagnostics.map(\.note?.position.line) == [2, 1, 2])
    }
}
