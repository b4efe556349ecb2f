// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import GatewayTesting
import JSONBytes
import StateStore
import SyncModel
import Testing

/// A pull's answer, held against everything that holds for all of them.
struct PulledAnswer: Sendable {
    let answer: RawAnswer
    let body: JSONValue
    let timestamp: Int64

    /// - Throws: `ExpectationFailedError` for anything but a well-formed answer.
    init(_ answer: RawAnswer, timestampName: String = "timestamp") throws {
        self.answer = answer
        try #require(answer.status == 200 && answer.isComplete, "\(answer)")
        #expect(answer["Content-Type"] == "application/json; charset=utf-8")
        #expect(answer["Cache-Control"] == "no-store")
        body = try #require(answer.json, "no JSON: \(answer)")
        timestamp = try #require(body[timestampName]?.int64, "no integer '\(timestampName)': \(answer)")
        #expect((1...9_007_199_254_740_991).contains(timestamp))
        for table in try #require(body["changes"]?.members) { try Self.check(table) }
    }

    /// The three lists and nothing else; objects with safe ids and without the client's own members; no id twice.
    private static func check(_ table: JSONValue.Member) throws {
        #expect(table.value.members?.map(\.name) == ["created", "updated", "deleted"], "in \(table.name)")
        var seen: Set<String> = []
        for list in ["created", "updated"] {
            for record in try #require(table.value[list]?.array, "\(table.name).\(list)") {
                let id = try #require(record["id"]?.string, "a record of \(table.name) has no text as id")
                #expect(seen.insert(id).inserted, "\(table.name)#\(id) stands twice")
                #expect(isSafe(id), "\(table.name)#\(id)")
                let names = record.members?.map(\.name) ?? []
                #expect(Set(names).isDisjoint(with: ["_status", "_changed", "__proto__", "constructor"]))
                #expect(Set(names).count == names.count, "a column of \(table.name)#\(id) stands twice")
            }
        }
        for entry in try #require(table.value["deleted"]?.array, "\(table.name).deleted") {
            let id = try #require(entry.string, "a deletion of \(table.name) is no text")
            #expect(seen.insert(id).inserted && isSafe(id), "\(table.name)#\(id)")
        }
    }

    private static func isSafe(_ id: String) -> Bool { id.wholeMatch(of: /[A-Za-z0-9_.\-]+/) != nil }

    /// The names of the tables.
    var tables: [String] { body["changes"]?.members?.map(\.name) ?? [] }

    /// The ids in one list of a table, sorted.
    func ids(_ table: String, _ list: String) -> [String] {
        (body["changes"]?[table]?[list]?.array ?? []).compactMap { $0.string ?? $0["id"]?.string }.sorted()
    }

    /// The ids that are created or updated in a table, sorted.
    func upserts(_ table: String) -> [String] { (ids(table, "created") + ids(table, "updated")).sorted() }

    /// One record.
    func record(_ table: String, _ id: String) -> JSONValue? {
        let lists = ["created", "updated"].flatMap { body["changes"]?[table]?[$0]?.array ?? [] }
        return lists.first { $0["id"]?.string == id }
    }
}

extension GatewayStack {
    /// Sends a pull with this query and expects a well-formed answer.
    func pull(_ query: String, token: String = "ada-token") async throws -> PulledAnswer {
        try PulledAnswer(try await get("/sync?\(query)", token: token))
    }

    /// Sends a pull with this cursor, as an app of this schema version.
    func pull(_ cursor: Int64?, version: Int = 3, token: String = "ada-token") async throws -> PulledAnswer {
        let time = cursor.map(String.init) ?? "null"
        return try await pull("last_pulled_at=\(time)&schema_version=\(version)&migration=null", token: token)
    }

    /// Sends a GET.
    func get(_ target: String, token: String = "ada-token") async throws -> RawAnswer {
        try await http.send("GET", target, headers: [("Accept", "*/*"), ("Authorization", "Bearer \(token)")])
    }

    /// Sends changes, given as JSON, as the documentation's apps do.
    func push(
        _ changes: String, at cursor: Int64?, token: String = "ada-token", accept: String = "*/*"
    ) async throws -> RawAnswer {
        let query = cursor.map { "?last_pulled_at=\($0)" } ?? ""
        return try await http.send(
            "POST", "/sync\(query)",
            headers: [
                ("Accept", accept), ("Authorization", "Bearer \(token)"), ("Content-Type", "text/plain;charset=UTF-8"),
            ], body: Array(changes.utf8))
    }

    /// Ada's records of a table by id, as the backend has them.
    func records(_ table: String, of user: String = "ada@example.com") async throws -> [String: DemoValue] {
        try await backend.records(of: user)[table] ?? [:]
    }

    /// What must stay as it is when a request is refused: everybody's records, and the cursors handed out.
    func snapshot() async throws -> Snapshot {
        Snapshot(
            ada: try await backend.records(of: "ada@example.com"),
            bob: try await backend.records(of: "bob@example.com"),
            newest: try await store.newestCursor()?.rawValue)
    }

    struct Snapshot: Equatable {
        let ada: [String: [String: DemoValue]]
        let bob: [String: [String: DemoValue]]
        let newest: Int64?
    }
}

/// What stands in Tests/Fixtures/recordings; its README says what the parts mean.
enum Recordings {
    /// The exchanges of one scenario.
    struct File: CustomTestStringConvertible, Sendable {
        let path: String
        let exchanges: [JSONValue]
        var testDescription: String { path }
    }

    /// One request with what it means.
    struct Shape: CustomTestStringConvertible, Sendable {
        let row: JSONValue
        var name: String { row["name"]?.string ?? "" }
        var testDescription: String { name }
    }

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/recordings")

    static let shapes = lines(of: "shapes.jsonl").map { Shape(row: $0) }

    static let files: [File] = {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".jsonl") && $0.contains("/") }.sorted()
            .map { File(path: $0, exchanges: lines(of: $0)) }
    }()

    private static func lines(of path: String) -> [JSONValue] {
        guard let data = try? Data(contentsOf: folder.appending(path: path)) else { return [] }
        let limits = JSONValue.Limits(bytes: 10_000_000, depth: 64, elements: 1_000_000)
        return data.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue.parse(Array($0), limits: limits) }
    }
}
