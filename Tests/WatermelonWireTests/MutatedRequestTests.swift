// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import Testing
import WatermelonWire

@Suite struct MutatedRequestTests {
    private static let tokens: [[UInt8]] =
        [
            "null", "true", "-1", "1e400", "1e-400", "9007199254740993", "\"\"", "\"id\":", "\"changes\":",
            "\"created\":[",
            "\"deleted\":", "{", "}", "[", "]", "\"", "\\", "\\ud800", "\\u0000", ":", ",", "%", "%2", "%25", "+", "&",
            "=", "[]",
            "migration[columns][0]", "last_pulled_at=", "lastPulledAt", "__proto__", "\u{feff}", "\u{0}",
        ].map { Array($0.utf8) } + [[0xff], [0xc3], [0xed, 0xa0, 0x80], []]

    private static func mutate(_ bytes: inout [UInt8], with other: [UInt8], using random: inout SeededGenerator) {
        let start = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes.removeSubrange(start..<end)
        case 1: bytes.insert(contentsOf: tokens.randomElement(using: &random) ?? [], at: start)
        case 2: bytes.replaceSubrange(start..<end, with: tokens.randomElement(using: &random) ?? [])
        case 3: bytes.insert(contentsOf: bytes[start..<end], at: end)
        case 4: bytes.removeLast(bytes.count - start)
        default:
            let cut = Int.random(in: 0...other.count, using: &random)
            bytes = Array(bytes[..<start] + other[cut...])
        }
    }

    @Test(arguments: 0..<UInt64(20))
    func `a damaged request gives a request or a documented error, never a trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let shapes = Fixtures.shapes
        var requests = 0
        for _ in 0..<500 {
            let shape = try #require(shapes.randomElement(using: &random))
            let other = try #require(shapes.randomElement(using: &random)).request
            var query = Array(shape.request.query.utf8)
            var body = shape.request.body
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                if Bool.random(using: &random) {
                    Self.mutate(&query, with: Array(other.query.utf8), using: &random)
                } else {
                    Self.mutate(&body, with: other.body, using: &random)
                }
            }
            let route = try #require(WireDialect.Route.allCases.randomElement(using: &random))
            let method = try #require(["GET", "POST"].randomElement(using: &random))
            do {
                let request = try RequestReader(dialect: shape.dialect).read(
                    method: method, route: route, query: String(decoding: query, as: UTF8.self), body: body)
                requests += 1
                try Self.check(request, route: route, method: method)
            } catch let error as WireError {
                #expect([400, 405, 413].contains(error.status))
                #expect(error.message.hasSuffix(".") && error.message.count < 160)
            }
        }
        #expect(requests > 20, "the damage leaves too little to look at")
    }

    /// Holds what was read against what every request promises.
    private static func check(_ request: ClientRequest, route: WireDialect.Route, method: String) throws {
        switch request {
        case .pull(let pull):
            #expect(route != .push)
            if case .cursor(let value) = pull.lastPulledAt { #expect(value >= 1) }
            #expect((pull.schemaVersion ?? 1) >= 1)
        case .push(let push):
            #expect(route != .pull && method == "POST")
            #expect((push.lastPulledAt ?? 1) >= 1)
            for table in push.changes.tables {
                #expect(!table.name.isEmpty && table.name != "__proto__")
                for record in table.created + table.updated {
                    let value = push.changes.value(of: record)
                    #expect(value["id"]?.string.map { Array($0.utf8) } == Array(record.id.utf8))
                    let members = try push.changes.withScanner(of: record) { (scanner) throws(JSONError) -> Int in
                        var count = 0
                        try scanner.beginObject()
                        while try scanner.nextMember() != nil {
                            _ = try scanner.value()
                            count += 1
                        }
                        try scanner.finish()
                        return count
                    }
                    #expect(members >= 1)
                }
            }
        }
    }
}
