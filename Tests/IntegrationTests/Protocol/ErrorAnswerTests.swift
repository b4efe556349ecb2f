// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import JSONBytes
import Testing

/// What an app hears when something is wrong: most apps show the body to their user.
@Suite struct ErrorAnswerTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let method: String
        let target: String
        var body = ""
        var token: String? = "ada-token"
        let status: Int
        let code: String
    }

    static let cases = [
        Case(
            testDescription: "an unreadable time", method: "GET", target: "/sync?last_pulled_at=yesterday", status: 400,
            code: "request.last_pulled_at"),
        Case(
            testDescription: "no credential", method: "GET", target: "/sync", token: nil, status: 401,
            code: "request.not_signed_in"),
        Case(
            testDescription: "a token that the backend doesn't know", method: "GET", target: "/sync", token: "stolen",
            status: 401, code: "backend.credential"),
        Case(
            testDescription: "a push without a known token", method: "POST", target: "/sync",
            body: #"{"tags":{"created":[],"updated":[],"deleted":["g"]}}"#, token: "stolen", status: 401,
            code: "backend.credential"),
        Case(
            testDescription: "another method", method: "PUT", target: "/sync", body: "{}", status: 405,
            code: "request.method"),
        Case(
            testDescription: "an app that is too old", method: "GET", target: "/sync?schema_version=1", status: 426,
            code: "schema.too_old"),
        Case(
            testDescription: "a body that is no JSON", method: "POST", target: "/sync", body: "[object Object]",
            status: 400, code: "request.not_json"),
        Case(
            testDescription: "neither pull nor push", method: "POST", target: "/sync", body: #"{"what":{"is":"this"}}"#,
            status: 400, code: "request.body_shape"),
        Case(
            testDescription: "changes where only pulls are", method: "POST", target: "/sync/pull",
            body: #"{"changes":{"tags":{"created":[],"updated":[],"deleted":["g"]}}}"#, status: 400,
            code: "request.changes_in_pull"),
    ]

    @Test(arguments: cases)
    func `an error is one sentence with a request id, and a stable code beside it`(example: Case) async throws {
        try await GatewayStack.with(StackOptions(["schema.oldest": "2"])) { stack in
            try await stack.backend.edit(.put("tags", ["id": "g"]))
            let before = try await stack.snapshot()
            let text = try await Self.send(example, to: stack, accept: "*/*")
            #expect(text.status == example.status && text.errorCode == example.code, "\(text)")
            let requestID = try #require(text["X-Request-Id"])
            #expect(text["Content-Type"] == "text/plain; charset=utf-8" && text["Cache-Control"] == "no-store")
            #expect(text.text.hasSuffix(" (\(requestID))") && !text.text.contains("\n") && text.text.count < 160)
            #expect(!text.text.contains("/") && !text.text.contains("Error"))

            let json = try await Self.send(example, to: stack, accept: "application/json, text/plain, */*")
            #expect(json.status == example.status && json.errorCode == example.code)
            #expect(json["Content-Type"] == "application/json; charset=utf-8")
            let error = try #require(json.json?["error"], "\(json)")
            #expect(error["code"]?.string == example.code && error["request_id"]?.string == json["X-Request-Id"])
            let sentence = try #require(error["message"]?.string)
            #expect(text.text.hasPrefix(sentence.trimmingSuffix(".")))
            #expect(try await stack.snapshot() == before)
            #expect(stack.log.lines.contains { $0.metadata["request_id"] == requestID })
        }
    }

    @Test func `a request id of the client's is taken over`() async throws {
        try await GatewayStack.with { stack in
            let answer = try await stack.http.send(
                "GET", "/sync?last_pulled_at=x", headers: [("X-Request-Id", "app-17"), ("Accept", "*/*")])
            #expect(answer["X-Request-Id"] == "app-17" && answer.text.hasSuffix("(app-17)"))
        }
    }

    private static func send(_ example: Case, to stack: GatewayStack, accept: String) async throws -> RawAnswer {
        var headers = [("Accept", accept)]
        if let token = example.token { headers.append(("Authorization", "Bearer \(token)")) }
        return try await stack.http.send(
            example.method, example.target, headers: headers, body: Array(example.body.utf8))
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
