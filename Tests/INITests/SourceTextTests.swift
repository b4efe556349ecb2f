// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import Testing

@Suite struct SourceTextTests {
    @Test(arguments: [
        ("", []), ("a", ["a"]), (" a , b ", ["a", "b"]), ("a,,b", ["a", "", "b"]), ("a,", ["a", ""]),
        ("\"a,b\",c", ["\"a,b\"", "c"]), ("{a,b},c", ["{a,b}", "c"]), ("{\"}\",x},c", ["{\"}\",x}", "c"]),
    ])
    func `commas separate, but not in quotes and braces`(text: String, parts: [String]) {
        #expect(SourceText(line: text, source: 0).split().map(\.string) == parts)
    }

    @Test(arguments: [
        ("a b", "a b"), ("\"a b\"", "a b"), ("\"a \\\" \\\\ b\"", "a \" \\ b"), ("it's \"x\"", "it's \"x\""),
    ])
    func `a quoted string loses its quotes and escapes`(text: String, value: String) throws {
        #expect(try SourceText(line: text, source: 0).unquoted() == value)
    }

    @Test(arguments: [
        ("\"a\" b", 4, "expected nothing after the closing quote, found ' b'"),
        ("\"a\\n\"", 3, "unknown escape '\\n' in a string"), ("\"a", 1, "this quote is never closed"),
    ])
    func `a bad string says where`(text: String, column: Int, message: String) {
        #expect {
            try SourceText(line: text, source: 0).unquoted()
        } throws: { error in
            let mistake = error as? Mistake
            return mistake?.message == message && mistake?.span.column == column
        }
    }

    @Test func `an empty part knows where it would be`() {
        let parts = SourceText(line: "a, ,b", source: 0).split()
        #expect(parts[1].span == Span(source: 0, line: 1, column: 4))
    }
}

@Suite struct SubstitutionTests {
    private let substitution = Substitution(environment: ["A": "x, \"y\" ${B}", "E": "", "DIR": "/run"]) {
        path throws(Substitution.FileError) in
        switch path {
        case "/etc/key": return Array("s3cret\r\n".utf8)
        case "/run/two": return Array("a\n\n".utf8)
        case "binary": return [0xFF, 0x00]
        case "big": return [UInt8](repeating: 0x61, count: 70_000)
        default: throw Substitution.FileError("no such file")
        }
    }

    private func resolve(_ text: String) throws -> SourceText {
        try substitution.resolve(SourceText(line: text, source: 0))
    }

    @Test(arguments: [
        ("plain", "plain"), ("${A}", "x, \"y\" ${B}"), ("a-${DIR}-b", "a-/run-b"), ("${E}", ""), ("$A $", "$A $"),
        ("@file:/etc/key", "s3cret"), ("@file:${DIR}/two", "a\n"), ("@file: /etc/key", "s3cret"),
        ("x @file:/etc/key", "x @file:/etc/key"),
    ])
    func `variables and files are put in`(text: String, value: String) throws {
        #expect(try resolve(text).string == value)
    }

    @Test func `inserted text is no syntax and stands where the reference stands`() throws {
        let value = try resolve("a, ${A}, b")
        let parts = value.split()
        #expect(parts.map(\.string) == ["a", "x, \"y\" ${B}", "b"])
        #expect(parts[1].span == Span(source: 0, line: 1, column: 4, length: 4))
        #expect(parts[2].span == Span(source: 0, line: 1, column: 10, length: 1))
        #expect(parts[1].shown == "…")
        #expect(try resolve("${A}").unquoted() == "x, \"y\" ${B}")
    }

    @Test(arguments: [
        ("${NONE}", 1, "variable 'NONE' is not set"), ("a${}", 2, "'${}' does not name a variable"),
        ("${A B}", 1, "'${A B}' does not name a variable"), ("x${A", 5, "expected '}' after the variable's name"),
        ("@file:/none", 1, "cannot read '/none': no such file"), ("@file:", 7, "expected a path after '@file:'"),
        ("@file:binary", 1, "'binary' is not UTF-8 text"),
        ("@file:big", 1, "'big' has 70000 bytes, expected at most 65536"),
    ])
    func `what cannot be put in is a mistake with its position`(text: String, column: Int, message: String) {
        #expect {
            try resolve(text)
        } throws: { error in
            let mistake = error as? Mistake
            return mistake?.message == message && mistake?.span.column == column
        }
    }
}

@Suite struct NearestNameTests {
    private let names = ["idle_timeout", "total_timeout", "url", "ack", "list"]

    @Test(arguments: [
        ("idle_timout", "idle_timeout"), ("idel_timeout", "idle_timeout"), ("IDLE_TIMEOUT", "idle_timeout"),
        ("ulr", "url"), ("lst", "list"), ("total-timeout", "total_timeout"), ("zzz", nil), ("", nil),
    ])
    func `a near name is found and a far one is not`(name: String, nearest: String?) {
        #expect(NearestName.of(name, among: names) == nearest)
    }

    @Test func `an endless name has no nearest`() {
        #expect(NearestName.of(String(repeating: "a", count: 100_000), among: names) == nil)
    }
}

@Suite struct ProblemsTests {
    @Test func `problems come sorted by line with the second position and the hint`() {
        var problems = Problems()
        let document = Document(bytes: Array("[s]\n\tabc = 1\n".utf8), name: "a.ini", problems: &problems)
        #expect(document.sections.count == 1)
        problems.error(
            "first", at: Span(source: 0, line: 1, column: 2, length: 1), hint: "do it",
            second: .init("here", at: Span(source: 0, line: 2, column: 2, length: 3)))
        let rendered = problems.diagnostics().map(\.rendered)
        #expect(
            rendered.first == """
                a.ini:1:2: error: first
                 1 | [s]
                   |  ^
                a.ini:2:2: note: here
                 2 | \tabc = 1
                   | \t^~~
                   = hint: do it
                """)
        #expect(problems.hasErrors)
    }

    @Test func `a masked line shows nothing behind the mask`() {
        var problems = Problems()
        let document = Document(
            bytes: Array("[s]\nkey = hunter2\n  hunter2\n".utf8), name: "a.ini", problems: &problems)
        if let value = document.section("s")?.entry("key")?.value {
            problems.error("wrong", at: value.span)
            problems.mask(value)
            problems.error("wrong", at: value.endSpan)
        }
        let rendered = problems.diagnostics().map(\.rendered).joined(separator: "\n")
        #expect(!rendered.contains("hunter2"))
        #expect(rendered.contains("key = ********"))
    }

    @Test func `beyond the limit problems are only counted`() {
        var problems = Problems()
        for line in 1...(Problems.limit + 5) { problems.error("x", at: Span(source: 0, line: line, column: 1)) }
        #expect(problems.diagnostics().count == Problems.limit + 1)
        #expect(problems.diagnostics().last?.message == "5 further problems not shown")
    }
}
