// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import JSONBytes
import Testing

/// The model beside the genuine client: given the answers that it was given, it asks what it asked.
@Suite struct RecordedClientTests {
    struct Recording: CustomTestStringConvertible, Sendable {
        var path: String
        var exchanges: [JSONValue]
        var testDescription: String { path }
        var shape: ClientRequestShape? { ClientRequestShape(rawValue: String(path.split(separator: "/")[1])) }
    }

    static let recordings: [Recording] = {
        let folder = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/recordings")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let limits = JSONValue.Limits(bytes: 10_000_000, depth: 64, elements: 1_000_000)
        return paths.filter { $0.hasSuffix(".jsonl") && $0.contains("/") }.sorted().map { path in
            let data = (try? Data(contentsOf: folder.appending(path: path))) ?? Data()
            let lines = data.split(separator: UInt8(ascii: "\n"))
            return Recording(
                path: path, exchanges: lines.compactMap { try? JSONValue.parse(Array($0), limits: limits) })
        }
    }()

    @Test func `the recordings are there`() {
        #expect(Self.recordings.reduce(0) { $0 + $1.exchanges.count } == 679)
    }

    @Test(arguments: recordings)
    func `the model sends the requests that the genuine client sent`(recording: Recording) throws {
        let shape = try #require(recording.shape)
        var clients: [String: ClientModel] = [:]
        for exchange in recording.exchanges {
            let name = try #require(exchange["client"]?.string)
            let meaning = try #require(exchange["meaning"])
            let request = try #require(exchange["request"])
            var client = clients[name] ?? ClientModel(schema: .recorded, seed: 1)
            let time = meaning["lastPulledAt"]?.double
            if meaning["op"]?.string == "pull" {
                let version = meaning["schemaVersion"]?.int64.map(Int.init) ?? client.database.version
                if version > client.database.version { client.upgrade(to: version) }
                if time == nil { client.reset() }
                // The option isn't in the recordings; all scenarios but one had set it.
                let isEnabled = !recording.path.hasSuffix("/no-migration-info.jsonl")
                client.options.migrationsEnabledAt = isEnabled ? 1 : nil
                let arguments = try client.pullArguments().arguments
                let own = shape.pull(arguments)
                #expect(own.target == request["target"]?.string)
                #expect(String(decoding: own.body, as: UTF8.self) == request["body"]?.string)
                if exchange["response"]?["status"]?.int64 == 200 {
                    _ = client.apply(Array((exchange["response"]?["body"]?.string ?? "").utf8), to: arguments)
                }
            } else {
                #expect(time == client.lastPulledAt)
                // An app of its own schema, and half a surrogate pair, which comes out of JSON as U+FFFD.
                let isOdd = ["table-unknown-to-the-server", "odd-values"].contains { recording.path.contains($0) }
                let changes = isOdd ? .init(tables: []) : try Self.changes(in: request, meaning)
                let own = shape.push(changes, lastPulledAt: time)
                #expect(isOdd || String(decoding: own.body, as: UTF8.self) == request["body"]?.string)
                #expect(own.target == request["target"]?.string)
                #expect(own.contentType == request["headers"]?["content-type"]?.string)
            }
            clients[name] = client
        }
    }

    /// The rows of a recorded push, every table with the columns of the app's schema.
    private static func changes(
        in request: JSONValue, _ meaning: JSONValue
    ) throws -> ClientLocalChanges {
        let limits = JSONValue.Limits(bytes: 10_000_000, depth: 64, elements: 1_000_000)
        let body = try JSONValue.parse(request["body"]?.string ?? "", limits: limits)
        let isEnvelope = meaning["changesAt"]?.string == "/changes"
        let tables = (isEnvelope ? body["changes"] : body)?.members ?? []
        // The newest table tells the version, which the oldest shape of requests doesn't.
        let schema = ClientSchema.recorded
        let version =
            schema.tables.filter { known in tables.contains { $0.name == known.name } }.map(\.since).max() ?? 1
        return ClientLocalChanges(
            tables: try tables.map { table in
                let columns = try #require(schema.table(named: table.name, at: version))
                    .columns(at: version)
                func rows(_ list: String) throws -> [ClientRecord] {
                    try (table.value[list]?.array ?? []).map { raw in
                        let changed = try #require(raw["_changed"]?.string).split(separator: ",").map(String.init)
                        let values = columns.map { ($0.name, ClientValue(sanitising: raw[$0.name], as: $0)) }
                        return ClientRecord(
                            id: try #require(raw["id"]?.string),
                            status: try #require(ClientRecord.Status(rawValue: raw["_status"]?.string ?? "")),
                            changed: changed, values: Dictionary(uniqueKeysWithValues: values))
                    }
                }
                let deleted = table.value["deleted"]?.array?.compactMap(\.string) ?? []
                return .init(
                    name: table.name, columns: columns, created: try rows("created"), updated: try rows("updated"),
                    deleted: deleted)
            })
    }
}
