// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `rind check --connect` says of a mapping that does not fit the lines of the stream.
@Suite struct StreamJudgementTests {
    /// A mistake in the configuration, or in a line, and what is said of it.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A text of the configuration, and the one in its place.
        var change = ("", "")
        /// A further line of the stream.
        var line = ""
        var types = "ListV1, ItemV1"
        let said: String
        let hint: String
        var status: Int32 = 1
    }

    private static func item(_ number: Int, text: String) -> String {
        let data = #""text":\#(text),"isDone":true,"position":\#(number)0,"listId":"l1","dueAt":null"#
        return #"{"type":"ItemV1","data":{"id":"i\#(number)",\#(data)},"ack":"a|\#(number)"}"#
    }

    private static let mistakes = [
        Mistake(
            testDescription: "a member that never occurs", change: ("boolean isDone", "boolean isDonne"),
            said: "unsure backend  POST /sync/stream: items.is_done: never present in 2 records; looked for 'isDonne', "
                + "and no column takes 'isDone'",
            hint: "[columns items] is_done, read from 'isDonne'"),
        Mistake(
            testDescription: "a type that no value fits", change: ("position = number", "position = boolean"),
            said: "wrong  backend  POST /sync/stream: items.position: 2 of 2 values do not fit 'boolean', such as 99; "
                + "apps get false; 'number' would take it",
            hint: "[columns items] position, read from 'position'"),
        Mistake(
            testDescription: "a type that some values do not fit",
            line: Self.item(3, text: "[7]"),
            said: "unsure backend  POST /sync/stream: items.text: 1 of 3 values do not fit 'string', such as [9]; "
                + #"apps get ""; 'string … json' would take it"#,
            hint: "[columns items] text, read from 'text'"),
        Mistake(
            testDescription: "another version of a wire type", change: ("upsert = ItemV1", "upsert = ItemV9"),
            types: "ListV1",
            said: "unsure backend  POST /sync/stream: ItemV1: 2 lines that nobody gets; did you mean 'ItemV9'?",
            hint: "'upsert' and 'delete' of the tables, [backend] ack_types for lines without data"),
        Mistake(
            testDescription: "a type for other clients, which is only noted",
            line: #"{"type":"AuditTrailOfStaffV1","data":{"id":"a"},"ack":"a|4"}"#,
            said:
                "note   backend  POST /sync/stream: AuditTrailOfStaffV1: 1 line that nobody gets; no table names the type",
            hint: "'upsert' and 'delete' of the tables, [backend] ack_types for lines without data", status: 0),
        Mistake(
            testDescription: "an id that apps cannot hold",
            line: #"{"type":"ListV1","data":{"id":"x7/é","title":"a","createdAt":1},"ack":"a|4"}"#,
            said: "wrong  backend  POST /sync/stream: lists, ListV1: 1 line with an id that apps cannot hold, "
                + "such as 'a9/?'",
            hint: "to be quarantined: an id may have letters, digits, '_', '.' and '-', and be neither '.' nor '..'"),
        Mistake(
            testDescription: "a record that is none", line: #"{"type":"ListV1","data":[],"ack":"a|4"}"#,
            said: "wrong  backend  POST /sync/stream: 1 line to be quarantined (record.not_an_object)",
            hint: "the line's data is no object"),
        Mistake(
            testDescription: "a member that may be left out, which is only noted",
            change: ("timestamp? dueAt", "timestamp? dueOn"),
            said: "note   backend  POST /sync/stream: items.due_at: never present in 2 records; looked for 'dueOn', "
                + "and no column takes 'dueAt'",
            hint: "[columns items] due_at, read from 'dueOn'", status: 0),
    ]

    @Test(arguments: mistakes)
    func `a mistake that the lines show is a finding of its own`(_ mistake: Mistake) async throws {
        let result = try await Self.check(mistake.change, line: mistake.line)
        let lines = result.out.split(separator: "\n").map(String.init)
        #expect(result.status == mistake.status, "\(result.out)\(result.error)")
        #expect(lines.contains("ok     backend  POST /sync/stream: streams lines of \(mistake.types)"), "\(result.out)")
        let place = try #require(lines.firstIndex(of: mistake.said), "\(result.out)")
        #expect(lines[place + 1].hasSuffix("= hint: \(mistake.hint)"))
        #expect(lines.count { $0.wholeMatch(of: #/(note|unsure|wrong) .*/#) != nil } == 1, "\(result.out)")
    }

    @Test func `of values that do not fit only the form is shown`() async throws {
        let line = #"{"type":"ListV1","data":{"id":"l2","title":"a","createdAt":"Ada Secret 1815"},"ack":"a|4"}"#
        let result = try await Self.check(("", ""), line: line)
        #expect(result.out.contains("such as \"Aaa Aaaaaa 9999\""), "\(result.out)")
        #expect(!result.out.contains(#/Ada|Secret|1815/#))
    }

    @Test func `a mapping that fits is ok and nothing else`() async throws {
        let result = try await Self.check(("", ""), line: "")
        #expect(result.status == 0, "\(result.error)")
        #expect(!result.out.contains(#/(?m)^(note|unsure|wrong) /#), "\(result.out)")
    }

    /// Checks the example with a changed text before a backend that streams a list, two items and a further line.
    private static func check(_ change: (String, String), line: String) async throws -> Finished {
        let example = try Place.text("examples/python-backend/rind.ini")
        let text = change.0.isEmpty ? example : example.replacing(change.0, with: change.1)
        try #require(change.0.isEmpty || text != example)
        let lines = [
            #"{"type":"ListV1","data":{"id":"l1","title":"a","createdAt":"2026-01-01T00:00:00Z"},"ack":"a|0"}"#,
            item(1, text: #""x""#), item(2, text: #""y""#), line,
            #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|4"}"#,
        ]
        let stream = lines.filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
        let script: ScriptedServer.Script = { request, _, body in
            guard request.isSignedIn else { return .status("401 No") }
            guard request.path != "/users/me" else { return .json(#"{"id":"ada"}"#) }
            return body.contains("SyncCompleteV1") ? .status("400 No such token") : .json(stream)
        }
        return try await ScriptedServer.with(reading: script) { server in
            try await Place.withDirectory { directory in
                let file = directory.appending(path: "rind.ini")
                try text.write(to: file, atomically: true, encoding: .utf8)
                return try await RunningCommand.run(
                    [
                        "check", "--config", file.path(percentEncoded: false), "--connect", "--header",
                        "Authorization: Bearer ada-token",
                    ],
                    environment: ["RIND_BACKEND_URL": server.url], directory: directory
                )
            }
        }
    }
}
