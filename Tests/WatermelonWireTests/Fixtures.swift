// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import SyncModel
import Testing
import WatermelonWire

/// What stands in Tests/Fixtures/recordings; its README says what the parts mean.
enum Fixtures {
    static let recordings = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/recordings")

    /// The rows of shapes.jsonl.
    static let shapes: [Shape] = lines(of: recordings.appending(path: "shapes.jsonl")).map { Shape(row: $0) }

    /// The files of recorded exchanges.
    static let files: [RecordedFile] = {
        let paths = FileManager.default.enumerator(atPath: recordings.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".jsonl") && $0.contains("/") }.sorted().map { path in
            RecordedFile(path: path, exchanges: lines(of: recordings.appending(path: path)))
        }
    }()

    /// The documents of a file, split at newlines only.
    private static func lines(of file: URL) -> [JSONValue] {
        guard let data = try? Data(contentsOf: file) else { return [] }
        let limits = JSONValue.Limits(bytes: 10_000_000, depth: 64, elements: 1_000_000)
        return data.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue.parse(Array($0), limits: limits) }
    }
}

/// One request with what it means.
struct Shape: CustomTestStringConvertible, Sendable {
    let row: JSONValue

    var name: String { row["name"]?.string ?? "" }
    var testDescription: String { name }
    var request: RecordedRequest { RecordedRequest(value: row["request"] ?? .null) }
    var meanings: [JSONValue] { [row["meaning"], row["also"]].compactMap { $0 } }

    /// The dialect that the row needs.
    var dialect: WireDialect {
        var dialect = WireDialect()
        let config = row["config"]
        if let name = config?["lastPulledAtName"]?.string { dialect.lastPulledAtNames = [name] }
        if let name = config?["timestampName"]?.string { dialect.timestampName = name }
        if let name = config?["migrationName"]?.string { dialect.migrationNames = [name] }
        if let table = config?["pushTable"]?.string { dialect.pushTable = table }
        if let path = config?["bodyPath"]?.string { dialect.bodyPath = WireDialect.steps(ofPointer: path) ?? ["?"] }
        if let path = config?["pullPath"]?.string { dialect.pullPaths = [PathPattern(path)].compactMap { $0 } }
        if let path = config?["pushPath"]?.string { dialect.pushPaths = [PathPattern(path)].compactMap { $0 } }
        return dialect
    }
}

/// The exchanges of one recorded scenario.
struct RecordedFile: CustomTestStringConvertible, Sendable {
    let path: String
    let exchanges: [JSONValue]
    var testDescription: String { path }
}

/// A request as it stands in a fixture.
struct RecordedRequest: Sendable {
    let value: JSONValue

    var method: String { value["method"]?.string ?? "" }
    var target: String { value["target"]?.string ?? "" }
    var body: [UInt8] { Array((value["body"]?.string ?? "").utf8) }
    var path: String { String(target.prefix { $0 != "?" }) }
    var query: String { String(target.drop { $0 != "?" }.dropFirst()) }

    /// What the reader makes of it; a path that isn't served gives nil.
    func read(_ dialect: WireDialect) throws(WireError) -> ClientRequest? {
        guard let route = dialect.route(path) else { return nil }
        return try RequestReader(dialect: dialect).read(method: method, route: route, query: query, body: body)
    }
}

extension ClientRequest {
    /// The request in the fixtures' notation, changes written out.
    var meaning: JSONValue {
        switch self {
        case .pull(let pull):
            var time = JSONValue.null
            if case .cursor(let value) = pull.lastPulledAt { time = .integer(value) }
            return .object([
                .init("op", .string("pull")), .init("lastPulledAt", time),
                .init("schemaVersion", pull.schemaVersion.map { .integer(Int64($0)) } ?? .null),
                .init("migration", pull.migration.map(\.meaning) ?? .null),
            ])
        case .push(let push):
            return .object([
                .init("op", .string("push")),
                .init("lastPulledAt", push.lastPulledAt.map { .integer($0) } ?? .null),
                .init("changes", push.changes.meaning),
            ])
        }
    }

    var pull: PullRequest? { if case .pull(let pull) = self { pull } else { nil } }
    var push: PushRequest? { if case .push(let push) = self { push } else { nil } }
}

extension PushChanges {
    var meaning: JSONValue {
        .object(
            tables.map { table in
                .init(
                    table.name,
                    .object([
                        .init("created", .array(table.created.map(value))),
                        .init("updated", .array(table.updated.map(value))),
                        .init("deleted", .array(table.deleted.map { .string($0) })),
                    ]))
            })
    }

    /// A record's object; null where its range holds none.
    func value(of record: PushedRecord) -> JSONValue {
        let limits = JSONValue.Limits(bytes: 10_000_000, depth: 200, elements: 1_000_000)
        return (try? JSONValue.parse(Array(bytes[record.range]), limits: limits)) ?? .null
    }
}

extension Migration {
    fileprivate var meaning: JSONValue {
        .object([
            .init("from", .integer(Int64(from))), .init("tables", .array(tables.map { .string($0) })),
            .init(
                "columns",
                .array(
                    columns.map { added in
                        .object([
                            .init("table", .string(added.table)),
                            .init("columns", .array(added.columns.map { .string($0) })),
                        ])
                    })),
        ])
    }
}

extension JSONValue {
    var text: String { String(decoding: canonical, as: UTF8.self) }
}

/// Reads a request with the default dialect, or another.
func read(
    _ method: String, _ target: String, body: String = "", _ change: (inout WireDialect) -> Void = { _ in }
) throws(WireError) -> ClientRequest? {
    var dialect = WireDialect()
    change(&dialect)
    return try RecordedRequest(
        value: .object([
            .init("method", .string(method)), .init("target", .string(target)), .init("body", .string(body)),
        ])
    ).read(dialect)
}

/// The code of the error that reading gives, nil where it gives none.
func codeOfReading(
    _ method: String, _ target: String, body: String = "", _ change: (inout WireDialect) -> Void = { _ in }
) -> WireError.Code? {
    do throws(WireError) {
        _ = try read(method, target, body: body, change)
        return nil
    } catch {
        return error.code
    }
}
