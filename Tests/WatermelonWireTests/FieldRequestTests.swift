// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import Testing
import WatermelonWire

@Suite struct FieldRequestTests {
    @Test func `the fixtures are complete`() {
        #expect(Fixtures.shapes.count == 122)
        #expect(Fixtures.files.count == 126)
        #expect(Fixtures.files.reduce(0) { $0 + $1.exchanges.count } == 679)
    }

    @Test(arguments: Fixtures.shapes)
    func `a request in a shape found in the field has its meaning`(shape: Shape) throws {
        let accepted = shape.meanings.map(\.text)
        let status = shape.row["meaning"]?["error"]?["status"]?.int64
        let result = Result { () throws(WireError) in try shape.request.read(shape.dialect) }
        switch result {
        case .success(let request):
            let meaning = try #require(request, "the path is not served").meaning.text
            // Who is calling is not the reader's business.
            #expect(status == 401 || accepted.contains(meaning), "read as \(meaning)")
        case .failure(let error):
            #expect(status == Int64(error.status), "\(error.code.rawValue): \(error.message)")
            #expect(error.message.hasSuffix(".") && error.message.count < 120)
        }
    }

    @Test(arguments: Fixtures.files)
    func `the requests of a genuine client have their meaning`(file: RecordedFile) throws {
        for exchange in file.exchanges {
            let recorded = RecordedRequest(value: try #require(exchange["request"]))
            let meaning = try #require(exchange["meaning"])
            let request = try #require(try recorded.read(WireDialect()))
            #expect(request.meaning.text == (try Self.expected(meaning, body: recorded.body)).text)
        }
    }

    /// The meaning of a recorded exchange with its changes written out.
    private static func expected(_ meaning: JSONValue, body: [UInt8]) throws -> JSONValue {
        guard let pointer = meaning["changesAt"]?.string else { return meaning }
        let limits = JSONValue.Limits(bytes: 10_000_000, depth: 64, elements: 1_000_000)
        var changes = try JSONValue.parse(body, limits: limits)
        for step in try #require(WireDialect.steps(ofPointer: pointer)) {
            changes = try #require(changes[step])
        }
        return .object([
            .init("op", .string("push")), .init("lastPulledAt", meaning["lastPulledAt"] ?? .null),
            .init("changes", changes),
        ])
    }
}
