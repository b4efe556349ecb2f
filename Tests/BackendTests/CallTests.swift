// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayTesting
import HTTPTypes
import JSONBytes
import NIOCore
import SyncModel
import Testing

@Suite struct CallTests {
    struct Reading: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answer: Answer
        var statuses: [Int: Call.Meaning] = [:]
        var returns: Path?
        var when: [Call.Condition] = []
        var meaning: Call.Meaning?
        var returned: String?
        var code: String?
    }

    static let success = [
        Call.Condition(path: Path([.index(0), .name("success")]), value: .boolean(true)),
        Call.Condition(path: Path([.index(0), .name("error")]), value: .string("duplicate")),
    ]
    static let id = Path(name: "id")

    @Test(arguments: [
        Reading(testDescription: "created", answer: Answer(status: "201 Created"), meaning: .ok),
        Reading(testDescription: "no content", answer: Answer(status: "204 No Content"), meaning: .ok),
        Reading(testDescription: "conflict", answer: Answer(status: "409 Conflict"), meaning: .conflict),
        Reading(testDescription: "precondition", answer: Answer(status: "412 No"), meaning: .conflict),
        Reading(
            testDescription: "missing as configured", answer: Answer(status: "400 Bad"),
            statuses: [400: .missing, 404: .missing], meaning: .missing),
        Reading(
            testDescription: "a configured status beats the default", answer: Answer(status: "409 Conflict"),
            statuses: [409: .exists], meaning: .exists),
        Reading(
            testDescription: "rejected", answer: Answer(status: "422 No"), statuses: [422: .rejected],
            meaning: .rejected),
        Reading(
            testDescription: "a refusal that is configured as such", answer: Answer(status: "403 No"),
            statuses: [403: .rejected], meaning: .rejected),
        Reading(
            testDescription: "the id", answer: Answer(body: #"{"id":"backend-7"}"#), returns: id, meaning: .ok,
            returned: "backend-7"),
        Reading(
            testDescription: "a number as id", answer: Answer(body: #"{"id":12345678901234567890}"#), returns: id,
            meaning: .ok, returned: "12345678901234567890"),
        Reading(
            testDescription: "an integer with a fraction of 0 as id", answer: Answer(body: #"{"id":17.0}"#),
            returns: id, meaning: .ok, returned: "17"),
        Reading(
            testDescription: "a fraction as id", answer: Answer(body: #"{"id":1.5}"#), returns: id,
            code: "backend.answer"),
        Reading(
            testDescription: "the id of one that exists", answer: Answer(status: "409 No", body: #"{"id":"7"}"#),
            statuses: [409: .exists], returns: id, meaning: .exists, returned: "7"),
        Reading(
            testDescription: "one that exists, without an id", answer: Answer(status: "409 No", body: "there is one"),
            statuses: [409: .exists], returns: id, meaning: .exists),
        Reading(
            testDescription: "no id", answer: Answer(body: #"{"id":null}"#), returns: id, code: "backend.answer"),
        Reading(
            testDescription: "an id that is none", answer: Answer(body: #"{"id":{"x":1}}"#), returns: id,
            code: "backend.answer"),
        Reading(
            testDescription: "the end of Location",
            answer: Answer(status: "201 Created", fields: ["Location: http://host/folders/a%20b?x=/9#/8"]),
            returns: Path(name: "location"), meaning: .ok, returned: "a b"),
        Reading(
            testDescription: "the end of a relative Location",
            answer: Answer(status: "201 Created", fields: ["Location: /folders/17/"], body: "not JSON"),
            returns: Path(name: "location"), meaning: .ok, returned: "17"),
        Reading(
            testDescription: "a member named location", answer: Answer(body: #"{"location":7}"#),
            returns: Path(name: "location"), meaning: .ok, returned: "7"),
        Reading(
            testDescription: "a Location without a path",
            answer: Answer(status: "201 Created", fields: ["Location: https://host"]),
            returns: Path(name: "location"), code: "backend.answer"),
        Reading(testDescription: "an id in no JSON", answer: Answer(body: "ok"), returns: id, code: "backend.answer"),
        Reading(
            testDescription: "first condition", answer: Answer(body: #"[{"id":"x","success":true}]"#), when: success,
            meaning: .ok),
        Reading(
            testDescription: "second condition", answer: Answer(body: #"[{"success":false,"error":"duplicate"}]"#),
            when: success, meaning: .ok),
        Reading(
            testDescription: "no condition", answer: Answer(body: #"[{"success":false,"error":"no_permission"}]"#),
            when: success, meaning: .rejected),
        Reading(
            testDescription: "a text is no truth", answer: Answer(body: #"[{"success":"true"}]"#), when: success,
            meaning: .rejected),
        Reading(testDescription: "nothing in it", answer: Answer(body: "[]"), when: success, meaning: .rejected),
        Reading(
            testDescription: "conditions on no JSON", answer: Answer(body: ""), when: success, code: "backend.answer"),
        Reading(testDescription: "401", answer: Answer(status: "401 No"), code: "backend.credential"),
        Reading(testDescription: "403", answer: Answer(status: "403 No"), code: "backend.credential"),
        Reading(testDescription: "400", answer: Answer(status: "400 No"), code: "backend.refused"),
        Reading(testDescription: "404", answer: Answer(status: "404 No"), code: "backend.refused"),
        Reading(testDescription: "429", answer: Answer(status: "429 No"), code: "backend.busy"),
        Reading(testDescription: "500", answer: Answer(status: "500 No"), code: "backend.failed"),
        Reading(testDescription: "301", answer: Answer(status: "301 No"), code: "backend.status"),
    ])
    func `the answer to a call means what the configuration says`(reading: Reading) async throws {
        try await ScriptedBackend.run(answer: reading.answer) { backend in
            var call = Call(method: "POST", target: [.text("/albums")])
            call.statuses = reading.statuses
            call.returns = reading.returns
            call.when = reading.when
            if let code = reading.code {
                let error = await #expect(throws: BackendError.self) {
                    try await backend.client.call(call, CallValues(columns: []), as: caller)
                }
                #expect(error?.code == code)
            } else {
                let outcome = try await backend.client.call(call, CallValues(columns: []), as: caller)
                #expect(outcome.meaning == reading.meaning)
                #expect(outcome.returned == reading.returned)
                #expect("\(outcome.status)" == reading.answer.status.prefix(3))
            }
        }
    }

    @Test(arguments: [
        ("500 No", true), ("503 No", true), ("408 No", true), ("302 No", true), ("400 No", false), ("401 No", false),
        ("429 No", false),
    ])
    func `a failure tells whether the call may have been applied`(status: String, isUnknown: Bool) async throws {
        try await ScriptedBackend.run(answer: Answer(status: status)) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.call(Call(method: "DELETE", target: [.text("/a")]), CallValues(), as: caller)
            }
            #expect(error?.isOutcomeUnknown == isUnknown)
        }
    }

    @Test func `a credential that a backend repeats in its error stands in no log`() async throws {
        let token = "s3cret/Token+1234567890"
        let escaped = token.replacing("/", with: "\\/")
        let echo = "no such token: \(token), \(escaped), s3cret%2FToken%2B1234567890 or s3cret/To"
        try await ScriptedBackend.run(answer: Answer(status: "401 No", body: echo)) { backend in
            let credentials = ForwardingRule(listed: ["authorization", "cookie", "user-agent"])
                .credentials(
                    of: [.authorization: "Bearer \(token)", .cookie: "session=abc123", .userAgent: "App/1"],
                    isPeerTrusted: false)
            await #expect(throws: BackendError.self) {
                let call = Call(method: "GET", target: [.text("/me")])
                return try await backend.client.value(of: call, at: Path(name: "id"), credentials)
            }
            let logged = "\(backend.log.entries)"
            #expect(logged.contains("no such token"))
            #expect(!logged.contains("Token") && !logged.contains("s3cret"))
        }
    }

    @Test func `an answer that is lost leaves a creation unknown, and it is not repeated`() async throws {
        try await ScriptedBackend.run { request, peer in
            if request.line.hasPrefix("POST") { throw CancellationError() }
            try await peer.answer("[]")
        } _: { backend in
            _ = try await backend.client.list(caller)
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.call(
                    Call(method: "POST", target: [.text("/albums")]), CallValues(columns: []), as: caller)
            }
            #expect(error?.code == "backend.closed")
            #expect(error?.isOutcomeUnknown == true)
            #expect(backend.requests.filter { $0.line.hasPrefix("POST") }.count == 1)
        }
    }

    struct Filling: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = "PATCH"
        var target: [TextFragment] = [.text("/x")]
        var body: JSONTemplate?
        var values: [String: JSONValue] = [:]
        var columns: [(Path, JSONValue)]?
        var line: String?
        var sent: String?
    }

    static let columns: [(Path, JSONValue)] = [
        (Path(name: "albumName"), .string("Fünf \"A\"")), (Path([.name("meta"), .name("stars")]), .integer(5)),
        (Path([.name("meta"), .name("tags"), .index(1)]), .string("b")), (Path(name: "order"), .null),
    ]
    static let columnsText = #"{"albumName":"Fünf \"A\"","meta":{"stars":5,"tags":[null,"b"]},"order":null}"#

    @Test(arguments: [
        Filling(
            testDescription: "an id in the path", target: [.text("/albums/"), .placeholder("id")],
            values: ["id": .string("a b..c?d=1&e#f%\u{e9}")],
            line: "PATCH /api/albums/a%20b..c%3Fd%3D1%26e%23f%25%C3%A9 HTTP/1.1", sent: ""),
        Filling(
            testDescription: "what the configuration writes itself", target: [.text("/a%2Fb/"), .placeholder("id")],
            values: ["id": .string("c")], line: "PATCH /api/a%2Fb/c HTTP/1.1", sent: ""),
        Filling(
            testDescription: "anything in the query", target: [.text("/x?id="), .placeholder("id")],
            values: ["id": .string("../a\r\n\0")], line: "PATCH /api/x?id=..%2Fa%0D%0A%00 HTTP/1.1", sent: ""),
        Filling(
            testDescription: "parts of an id and the query",
            target: [
                .text("/a/"), .placeholder("id.1"), .text("/b/"), .placeholder("id.2"), .text("?base="),
                .placeholder("base"),
            ],
            values: ["id.1": .string("1"), "id.2": .integer(2), "base": .string("")],
            line: "PATCH /api/a/1/b/2?base= HTTP/1.1",
            sent: ""),
        Filling(
            testDescription: "a list in the query", target: [.text("/x?types="), .placeholder("types")],
            values: ["types": .array([.string("A"), .string("B,C")])], line: "PATCH /api/x?types=A%2CB%2CC HTTP/1.1",
            sent: ""),
        Filling(
            testDescription: "a template with types",
            body: .object([
                .init(name: "n", value: .value("n")), .init(name: "b", value: .value("b")),
                .init(name: "text", value: .string([.text("id-"), .placeholder("n")])),
                .init(name: "fixed", value: .array([.null, .boolean(true), .number("1.50"), .value("s")])),
            ]),
            values: ["n": .integer(7), "b": .bool(false), "s": .string("\u{2028}\"")],
            sent: "{\"n\":7,\"b\":false,\"text\":\"id-7\",\"fixed\":[null,true,1.50,\"\u{2028}\\\"\"]}"),
        Filling(
            testDescription: "what has no value is left out",
            body: .object([.init(name: "a", value: .value("a")), .init(name: "b", value: .array([.value("b")]))]),
            sent: #"{"b":[]}"#),
        Filling(
            testDescription: "all columns inside of a template",
            body: .object([.init(name: "album", value: .allColumns)]), columns: columns,
            sent: #"{"album":\#(columnsText)}"#),
        Filling(testDescription: "columns without a template", columns: columns, sent: columnsText),
        Filling(testDescription: "a deletion has no body of itself", method: "DELETE", columns: columns, sent: ""),
        Filling(
            testDescription: "a deletion with a template", method: "DELETE",
            body: .object([.init(name: "ids", value: .array([.value("asset_id")]))]),
            values: ["asset_id": .string("7")], sent: #"{"ids":["7"]}"#),
        Filling(testDescription: "no value for the target", target: [.text("/"), .placeholder("id")]),
        Filling(
            testDescription: "no value inside of a text", body: .string([.text("x"), .placeholder("id")])),
        Filling(
            testDescription: "an empty segment", target: [.text("/"), .placeholder("id"), .text("/x")],
            values: ["id": .string("")]),
        Filling(
            testDescription: "a dot", target: [.text("/"), .placeholder("id"), .text("/x")],
            values: ["id": .string(".")]),
        Filling(
            testDescription: "two dots", target: [.text("/a/"), .placeholder("id")], values: ["id": .string("..")]),
        Filling(
            testDescription: "two dots in one segment", target: [.text("/a/."), .placeholder("id")],
            values: ["id": .string(".")]),
        Filling(
            testDescription: "a slash", target: [.text("/a/"), .placeholder("id")],
            values: ["id": .string("../sync/ack")]),
        Filling(
            testDescription: "a line break", target: [.text("/a/"), .placeholder("id")], values: ["id": .string("a\n")]),
        Filling(
            testDescription: "dots that were encoded", target: [.text("/a/"), .placeholder("id")],
            values: ["id": .string("%2e%2E")]),
        Filling(
            testDescription: "too long", target: [.text("/a/"), .placeholder("id")],
            values: ["id": .string(String(repeating: "x", count: 16_000))]),
        Filling(testDescription: "null", target: [.text("/a/"), .placeholder("id")], values: ["id": .null]),
        Filling(testDescription: "another host", target: [.text("@evil.example/")]),
        Filling(testDescription: "no method", method: "GET / HTTP/1.1\r\nX:"),
    ])
    func `a call is filled in so that no value leaves its place`(filling: Filling) async throws {
        try await ScriptedBackend.run(answer: Answer()) { backend in
            var call = Call(method: filling.method, target: filling.target)
            call.body = filling.body
            let values = CallValues(
                filling.values, columns: filling.columns.map { $0.map { (path: $0.0, value: $0.1) } })
            guard let sent = filling.sent else {
                let error = await #expect(throws: BackendError.self) {
                    try await backend.client.call(call, values, as: caller)
                }
                #expect(error?.code == "backend.call")
                #expect(error?.isOutcomeUnknown == false)
                #expect(backend.requests.isEmpty)
                return
            }
            _ = try await backend.client.call(call, values, as: caller)
            let request = try #require(backend.requests.first)
            #expect(request.text == sent)
            if let line = filling.line { #expect(request.line == line) }
            #expect((request.field("content-type") == "application/json") == !sent.isEmpty)
        }
    }

    @Test func `a scope stands in each place of a call by that place's rules, in every call`() async throws {
        let scope = SyncScope([ScopeName(.path, "team"): "a b&c", ScopeName(.query, "farm"): #"ö/"\"#])
        try await ScriptedBackend.run(answer: Answer()) { backend in
            var call = Call(
                method: "POST",
                target: [
                    .text("/v1/"), .placeholder("path.team"), .text("/x-"), .placeholder("id"), .text("?f="),
                    .placeholder("query.farm"),
                ])
            call.body = .object([
                .init(name: "farm", value: .value("query.farm")),
                .init(name: "text", value: .string([.text("of "), .placeholder("path.team")])),
            ])
            _ = try await backend.client.call(call, CallValues(["id": .string("1")]), as: caller.with(scope: scope))
            let request = try #require(backend.requests.first)
            #expect(request.line == "POST /api/v1/a%20b%26c/x-1?f=%C3%B6%2F%22%5C HTTP/1.1")
            #expect(request.text == #"{"farm":"ö/\"\\","text":"of a b&c"}"#)
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.call(call, CallValues(["id": .string("1")]), as: caller)
            }
            guard case .invalidCall("there is no value for {path.team}") = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test(
        arguments: [
            (#"{"user":{"id":"u-1"}}"#, .string("u-1")), (#"{"user":{"id":42}}"#, .integer(42)),
            (#"{"user":{"id":null}}"#, .null), (#"{"user":7}"#, nil), ("[]", nil),
        ] as [(String, JSONValue?)])
    func `who the caller is stands where the configuration says`(body: String, expected: JSONValue?) async throws {
        try await ScriptedBackend.run(answer: Answer(body: body)) { backend in
            let call = Call(method: "GET", target: [.text("/users/me")])
            let value = try await backend.client.value(of: call, at: Path([.name("user"), .name("id")]), caller)
            #expect(value == expected)
            #expect(backend.requests.first?.line == "GET /api/users/me HTTP/1.1")
        }
    }

    @Test func `a caller whom the backend does not know is nobody`() async throws {
        try await ScriptedBackend.run(answer: Answer(status: "401 No", body: #"{"id":"x"}"#)) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.value(of: Call(method: "GET", target: [.text("/me")]), at: Self.id, caller)
            }
            #expect(error?.code == "backend.credential")
        }
    }

    @Test func `a probe gives every answer as it is, and what it sends is only what it was given`() async throws {
        let answer = Answer(status: "302 No", fields: ["Location: /login?next=secret"], body: " <html>")
        try await ScriptedBackend.run(answer: answer) { backend in
            let probed = try await backend.client.probe(Call(method: "GET", target: [.text("/me")]), .none)
            #expect(probed.status == 302 && probed.location == "/login" && probed.isPage && probed.isWhole)
            #expect(backend.requests.first?.field("authorization") == nil)
            _ = try await backend.client.probeStream(types: ["A"], caller)
            #expect(backend.requests.last?.field("authorization") != nil)
            #expect(backend.log.entries.isEmpty)
        }
    }
}
