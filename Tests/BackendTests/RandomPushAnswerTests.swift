// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Foundation
import GatewayTesting
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import SyncModel
import Testing

/// Random answers to pushes: none may count as applied of which a line has no result that says so.
@Suite struct RandomPushAnswerTests {
    /// The number of answers: `RIND_TEST_ANSWERS`, which `make soak` sets to `MUTATIONS`.
    private static let count = ProcessInfo.processInfo.environment["RIND_TEST_ANSWERS"].flatMap { Int($0) } ?? 20_000

    @Test func `whatever a backend answers, a push counts as applied only if each line has a result that says so`()
        async throws
    {
        var random = SeededGenerator(seed: 48)
        let transport = AnsweringTransport()
        let client = BackendClient(
            settings: .immich("http://localhost/api/"), transport: transport, clock: PlainClock(),
            logger: Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() })
        var (applied, refused, unknown) = (0, 0, 0)
        for _ in 0..<Self.count {
            var answer = RandomPushAnswer(random: random)
            let (status, body, isCut) = answer.make()
            random = answer.random
            transport.answer.withLockedValue { $0 = (status, body, isCut) }
            do {
                let result = try await client.pushStream(.none, count: answer.lines, key: "k", caller)
                switch result {
                case .applied(let lines):
                    applied += 1
                    let isWhole = answer.saysYesToAll(status, body) && !isCut
                    guard isWhole, Set(lines.map(\.line)) == Set(0..<answer.lines) else {
                        Issue.record("applied: \(status) \(body)\(isCut ? ", cut" : "")")
                        return
                    }
                case .refused(let lines):
                    refused += 1
                    if lines.isEmpty || status == 200 { Issue.record("refused: \(status) \(body)") }
                }
            } catch {
                unknown += 1
                if answer.saysYesToAll(status, body), !isCut {
                    Issue.record("not applied: \(status) \(body): \(error)")
                }
            }
        }
        #expect(applied > Self.count / 100 && refused > Self.count / 100 && unknown > Self.count / 10)
    }
}

/// Makes answers that are nearly right.
private struct RandomPushAnswer {
    var random: SeededGenerator
    /// The number of lines that were pushed.
    let lines: Int

    init(random: SeededGenerator) {
        self.random = random
        lines = Int.random(in: 1...4, using: &self.random)
    }

    /// Returns a status, a body, and whether the connection ends before the body does.
    mutating func make() -> (status: Int, body: String, isCut: Bool) {
        let isRefusal = chance(3)
        var results = (0..<lines).map { #"{"line":\#($0),"outcome":"ok"}"# }
        if isRefusal { results[0] = #"{"line":0,"outcome":"conflict"}"# }
        for _ in 0..<Int.random(in: 0...2, using: &random) { disturb(&results) }
        var body = #"{"results":[\#(results.joined(separator: ","))]}"#
        if chance(10) {
            body = pick([
                "", "{}", "[]", "null", #"{"results":null}"#, #"{"results":{}}"#, #"{"result":[]}"#, "<html></html>",
                results.joined(separator: ","), "[\(results.joined(separator: ","))]", #"{"ok":true}"#, body + body,
                #"{"results":[],"results":[\#(results.joined(separator: ","))]}"#,
            ])
        }
        if chance(20) { body = String(body.prefix(Int.random(in: 0...body.count, using: &random))) }
        let status =
            isRefusal ? pick([409, 422]) : chance(8) ? pick([201, 202, 204, 301, 400, 401, 404, 429, 500]) : 200
        return (status, body, chance(20))
    }

    private mutating func disturb(_ results: inout [String]) {
        let place = results.indices.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<8, using: &random) {
        case 0: if !results.isEmpty { results.remove(at: place) }
        case 1: results.append(results.randomElement(using: &random) ?? "null")
        case 2: results.shuffle(using: &random)
        case 3: results.append(#"{"line":\#(pick([-1, lines, lines + 1, 1 << 62])),"outcome":"ok"}"#)
        case 4:
            let outcome = pick(["conflict", "rejected", "missing", "OK", "fine", ""])
            if !results.isEmpty { results[place] = #"{"line":\#(place),"outcome":"\#(outcome)"}"# }
        case 5:
            let odd = pick([
                "null", "1", #""ok""#, "[]", "{}", #"{"line":0}"#, #"{"outcome":"ok"}"#,
                #"{"line":"0","outcome":"ok"}"#, #"{"line":0.5,"outcome":"ok"}"#, #"{"line":null,"outcome":"ok"}"#,
                #"{"line":0,"outcome":true}"#, #"{"line":0,"outcome":["ok"]}"#,
            ])
            if results.isEmpty { results.append(odd) } else { results[place] = odd }
        case 6: results = []
        default: if !results.isEmpty { results[place] = #"{ "outcome" : "ok" , "id":7, "line" : \#(place) }"# }
        }
    }

    private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    /// Reads an answer by Foundation's reader: 200, and exactly one result for each line, which is ok.
    func saysYesToAll(_ status: Int, _ body: String) -> Bool {
        guard status == 200, let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any],
            let results = object["results"] as? [[String: Any]], results.count == lines
        else { return false }
        let told = results.compactMap { result in
            result["outcome"] as? String == "ok" && !(result["line"] is String) ? result["line"] as? Int : nil
        }
        return Set(told) == Set(0..<lines)
    }
}

/// Gives one answer to every request, without a network.
private struct AnsweringTransport: HTTPTransport {
    let answer = NIOLockedValueBox((status: 200, body: "", isCut: false))

    func execute(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
        let (status, body, isCut) = answer.withLockedValue { $0 }
        let rest = NIOLockedValueBox(Optional(ByteBuffer(string: body)))
        return CurlResponse(
            status: .init(code: status), fields: [.contentType: "application/json"],
            body: CurlBody { () async throws(CurlError) in
                if let body = rest.withLockedValue({ $0.take() }) { return body }
                if isCut { throw .closed("the answer was cut") }
                return nil
            })
    }

    func perform<Result>(_ request: CurlRequest, _ use: (CurlResponse) async throws -> Result) async throws -> Result {
        try await use(execute(request))
    }
}
