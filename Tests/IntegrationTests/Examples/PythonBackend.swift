// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GatewayTesting
import Testing

/// The backend of `examples/python-backend`, as a process of its own.
struct PythonBackend {
    /// Where it listens.
    let port: Int
    /// Its SQLite file.
    var file: String

    /// Where the gateway reaches it.
    var url: String { "http://127.0.0.1:\(port)" }

    private static var program: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether there is a Python to run it; build machines must have one.
    static var isRunnable: Bool { program != nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    /// Runs it around the body, with its file in the directory.
    static func with<Value>(
        directory: String, program name: String = "backend.py", _ body: (PythonBackend) async throws -> Value
    ) async throws -> Value {
        let program = try #require(program, "python3 is not installed")
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let (file, said) = ("\(directory)/backend.db", URL(filePath: directory).appending(path: "backend-said"))
        try Data().write(to: said)
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [
            root.appending(path: "examples/python-backend/\(name)").path, "--port", "0", "--file", file,
        ]
        process.standardOutput = try FileHandle(forWritingTo: said)
        process.standardError = FileHandle.nullDevice
        try process.run()
        do {
            var port: Int?
            try await eventually {
                let text = try String(contentsOf: said, encoding: .utf8)
                port = text.firstMatch(of: /listening on http:.*:(\d+)\n/).flatMap { Int($0.output.1) }
                return port != nil || !process.isRunning
            }
            let value = try await body(PythonBackend(port: #require(port), file: file))
            try await end(process)
            return value
        } catch {
            try await end(process)
            throw error
        }
    }

    private static func end(_ process: Process) async throws {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try await eventually { !process.isRunning }
    }

    /// The same backend of which only one project's records are looked at, where each has a database of its own.
    func project(_ id: String) -> Self {
        var project = self
        project.file += "." + id.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return project
    }

    /// Changes its records past it, as another program would; the triggers number the changes.
    func edit(_ sql: String) throws {
        let queue = try open()
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Waits where the backend holds a lock, if only because its last connection closes.
    private func open() throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: file, configuration: configuration)
    }

    /// What a user's device should hold.
    func contents(of owner: String) throws -> [String: [String: [String: ClientValue]]] {
        let queue = try open()
        defer { try? queue.close() }
        return try queue.read { db in
            var contents: [String: [String: [String: ClientValue]]] = [:]
            for table in ClientSchema.python.tables {
                let rows = try Row.fetchAll(
                    db, sql: "SELECT * FROM \(table.name) WHERE owner = ?", arguments: [owner])
                contents[table.name] = Dictionary(
                    uniqueKeysWithValues: rows.map { row in
                        let values = table.columns.map { ($0.name, Self.value(row[$0.name], $0)) }
                        return (row["id"] as String, Dictionary(uniqueKeysWithValues: values))
                    })
            }
            return contents
        }
    }

    private static func value(_ stored: DatabaseValue, _ column: ClientSchema.Column) -> ClientValue {
        switch column.kind {
        case _ where stored.isNull: .null
        case .boolean: .boolean(Int.fromDatabaseValue(stored) == 1)
        case .string: .string(String.fromDatabaseValue(stored) ?? "")
        case .number:
            .number(
                Double.fromDatabaseValue(stored)
                    ?? String.fromDatabaseValue(stored).flatMap(StackOracle.milliseconds(ofISO:)) ?? -1)
        }
    }
}

extension ClientSchema {
    /// The schema of the app in the example `python-backend`.
    static let python = ClientSchema(tables: [
        Table("lists", columns: [Column("title", .string), Column("created_at", .number)]),
        Table(
            "items",
            columns: [
                Column("text", .string), Column("is_done", .boolean), Column("position", .number),
                Column("due_at", .number, isOptional: true), Column("list_id", .string),
            ]),
    ])
}
