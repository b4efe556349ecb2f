// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Bodies that are too large, no JSON, of the wrong shape, or made to do harm.
@Suite(.timeLimit(.minutes(5))) struct BadBodyTests {
    static let limited = StackOptions([
        "limits.body": "64KiB", "limits.inflated_body": "256KiB", "limits.json_depth": "16", "push.max_records": "20",
    ])

    static let deep = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)

    static let empty = #"{"created":[],"updated":[],"deleted":[]}"#

    /// A push that creates tasks of these ids.
    static func created(_ ids: [String]) -> String {
        let records = ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
        return #"{"changes":{"tasks":{"created":[\#(records)],"updated":[],"deleted":[]}}}"#
    }

    static let bodies: [(body: String, outcome: String)] = [
        ("{", "400 request.not_json"), ("{}}", "400 request.not_json"), ("hello", "400 request.not_json"),
        (#"{"changes":{"tasks":}}"#, "400 request.not_json"), ("{'changes':{}}", "400 request.not_json"),
        (#"{"a":01}"#, "400 request.not_json"), ("\u{0}", "400 request.not_json"),
        ("[1,2,3]", "400 request.body_shape"), ("true", "400 request.body_shape"), (#""text""#, "400 request.not_json"),
        (#"{"something":1}"#, "400 request.body_shape"), (#"{"changes":[]}"#, "400 request.changes_shape"),
        (#"{"changes":{"tasks":[]}}"#, "400 request.changes_shape"),
        (#"{"changes":{"tasks":{"created":{},"updated":[],"deleted":[]}}}"#, "400 request.changes_shape"),
        (#"{"changes":{"tasks":{"created":[1],"updated":[],"deleted":[]}}}"#, "400 request.record_id"),
        (#"{"changes":{"tasks":{"created":[{}],"updated":[],"deleted":[]}}}"#, "400 request.record_id"),
        (#"{"changes":{"tasks":{"created":[{"id":7}],"updated":[],"deleted":[]}}}"#, "400 request.record_id"),
        (#"{"changes":{"tasks":{"created":[{"id":""}],"updated":[],"deleted":[]}}}"#, "400 request.record_id"),
        (#"{"changes":{"tasks":{"created":[],"updated":[],"deleted":[{}]}}}"#, "400 request.record_id"),
        (
            #"{"changes":{"tasks":{"created":[{"id":"a"},{"id":"a"}],"updated":[],"deleted":[]}}}"#,
            "400 request.id_twice"
        ),
        (
            #"{"changes":{"tasks":{"created":[{"id":"a"}],"updated":[],"deleted":["a"]}}}"#, "400 request.id_twice"
        ),
        (
            #"{"changes":{"tasks":\#(empty),"tasks":\#(empty)}}"#,
            "400 request.table_name"
        ),
        (#"{"changes":{"__proto__":{"created":[],"updated":[],"deleted":[]}}}"#, "400 request.table_name"),
        (#"{"changes":\#(deep)}"#, "400 request.too_deep"),
        (
            created((0..<21).map { "n\($0)" }),
            "413 request.too_many_records"
        ),
        (
            created([String(repeating: "x", count: 256)]),
            "400 request.record_id"
        ),
        (#"{"lastPulledAt":"never","changes":{}}"#, "400 request.last_pulled_at"),
    ]

    @Test func `bodies that are no push and no pull are refused`() async throws {
        try await BadRequestTests.refused(Self.limited) { stack, cursor in
            for (body, outcome) in Self.bodies {
                let answer = try await stack.send(
                    "POST", "/sync?last_pulled_at=\(cursor)", body: Array(body.utf8))
                #expect(answer.outcome == outcome, "\(body.prefix(120)): \(answer)")
                #expect(answer.text.count < 300 && !answer.text.isEmpty)
            }
        }
    }

    @Test func `bytes that are no UTF-8 are refused`() async throws {
        try await BadRequestTests.refused(Self.limited) { stack, _ in
            let bytes =
                Array(#"{"changes":{"tasks":{"created":[{"id":"a","name":""#.utf8) + [0xFF, 0xC0]
                + Array(#""}],"updated":[],"deleted":[]}}}"#.utf8)
            let answer = try await stack.send("POST", "/sync", body: bytes)
            #expect(answer.outcome == "400 request.not_json")
        }
    }

    @Test func `bodies that are too large are refused before they are read, packed ones too`() async throws {
        try await BadRequestTests.refused(Self.limited) { stack, _ in
            let large = [UInt8](repeating: UInt8(ascii: " "), count: 100_000)
            #expect(try await stack.send("POST", "/sync", body: large).outcome == "413 request.body_too_large")
            // Announced only; not one byte of it comes.
            let announced = stack.http.request(
                "POST", "/sync", headers: GatewayStack.headers("ada-token", ["Content-Length": "99999999999"]))
            let answer = try await stack.http.withConnection { connection in
                await connection.write(announced)
                return try await connection.answer()
            }
            #expect(answer.outcome == "413 request.body_too_large" && answer["Connection"] == "close")
            let chunk = Array("8000\r\n".utf8) + large.prefix(0x8000) + Array("\r\n".utf8)
            let chunked = try await stack.http.send(
                "POST", "/sync", headers: GatewayStack.headers("ada-token", ["Transfer-Encoding": "chunked"]),
                body: chunk + chunk + chunk)
            #expect(chunked.outcome == "413 request.body_too_large")
        }
    }

    @Test func `a body that unpacks to too much is refused`() async throws {
        try await BadRequestTests.refused(Self.limited) { stack, _ in
            let bomb = try gzip([UInt8](repeating: UInt8(ascii: " "), count: 40 << 20))
            #expect(bomb.count < 64 << 10)
            let answer = try await stack.send("POST", "/sync", ["Content-Encoding": "gzip"], body: bomb)
            #expect(answer.outcome == "413 request.body_too_large")
            let broken = try await stack.send(
                "POST", "/sync", ["Content-Encoding": "gzip"], body: Array(try gzip(Array("{}".utf8)).dropLast(5)))
            #expect(broken.outcome == "400 request.compressed_body")
        }
    }

    @Test func `a client that ends in the middle of its push changes nothing`() async throws {
        try await BadRequestTests.refused(Self.limited) { stack, cursor in
            let body = Array(PushReceiptTests.created.json.utf8)
            let request = stack.http.request(
                "POST", GatewayStack.pushTarget(cursor), headers: GatewayStack.headers(), body: body)
            for length in [10, request.count - body.count, request.count - 1] {
                try await stack.http.withConnection { await $0.write(Array(request.prefix(length))) }
            }
            try await eventually { stack.syncLines.count >= 2 }
        }
    }
}
