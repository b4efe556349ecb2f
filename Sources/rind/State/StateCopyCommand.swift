// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import GatewayConfig
import JSONBytes
import Postgres
import PostgresState
import SQLiteState
import StateStore
import SyncModel

/// `rind state copy`.
struct StateCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copies a state into an empty one.",
        discussion: """
            EXAMPLE
              rind state copy --from sqlite:rind-state.db --to postgresql://rind@db/rind
              rind state copy --from postgresql://rind@db/rind --to sqlite:rind-state.db

            Stop every gateway first: one that goes on would hand out cursors that the copy
            does not have. A file that a gateway uses is refused; of a database that cannot
            be told, but a change that comes in between is found in the end. The target has
            to be empty. Everything is copied and then compared, row by row; until then no
            gateway opens the target. After an interruption run the same command again: it
            goes on where it was. Then set '[state] url' and start the gateway: no device
            notices. The source is not changed.
            Keep the password out of the arguments: use PGPASSWORD or PGPASSFILE.
            """)

    @Option(help: ArgumentHelp("The state to copy: sqlite:PATH or postgresql://….", valueName: "url"))
    var from: String

    @Option(help: ArgumentHelp("The empty state to copy into: sqlite:PATH or postgresql://….", valueName: "url"))
    var to: String

    @Option(help: ArgumentHelp("The schema of a state in PostgreSQL, as '[state] schema' names it.", valueName: "name"))
    var schema = "rind"

    @Flag(help: "Print one JSON object instead of text; its names are in docs/OPERATIONS.md and stay.")
    var json = false

    /// The longest time for one page of rows.
    private static let timeout = Duration.seconds(120)
    /// So many rows are copied or compared for a line on standard error.
    private static let reported = 10_000

    func run() async throws {
        try await reportingFailures {
            Console.ignoreBrokenPipes()
            guard SchemaName.isValid(schema) else {
                throw CommandFailure(
                    .usage,
                    "A schema's name has letters a to z, digits and '_', at most 63, and does not begin with 'pg_'.")
            }
            let source = try await openSource()
            let report: Result<CopyReport, any Error>
            do { report = .success(try await copy(from: source)) } catch { report = .failure(error) }
            await source.close()
            try Console.show(report.get(), asJSON: json)
        }
    }

    private func openSource() async throws -> any ByteStore {
        switch try CopyLocation(from) {
        case .sqlite(let path): try await SQLiteStateStore.openBytes(path: path, creates: false)
        case .postgres(let url): try await PostgresStateStore.openBytes(options(url), creates: false, logger: .silent)
        }
    }

    private func openTarget() async throws -> any ByteStore {
        switch try CopyLocation(to) {
        case .sqlite(let path): try await SQLiteStateStore.openBytes(path: path, creates: true)
        case .postgres(let url): try await PostgresStateStore.openBytes(options(url), creates: true, logger: .silent)
        }
    }

    private func options(_ url: String) -> PostgresStateStore.Options {
        var options = PostgresStateStore.Options(conninfo: url)
        options.schema = schema
        options.timeout = Self.timeout
        options.connections.maximumConnections = 1
        // A pooler between may not keep prepared statements.
        options.connections.preparesStatements = false
        return options
    }

    private func copy(from source: any ByteStore) async throws -> CopyReport {
        if case .sqlite(let path) = try CopyLocation(to),
            URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false) == source.location
        {
            throw CommandFailure(.usage, "'--from' and '--to' are the same file.")
        }
        let target = try await openTarget()
        let result: Result<CopyReport, any Error>
        do {
            let counts = try await StateCopier(from: source, to: target, report: Self.report).run()
            result = .success(CopyReport(source: source.location, target: target.location, counts: counts))
        } catch {
            result = .failure(Self.explained(error, target: target.location))
        }
        await target.close()
        return try result.get()
    }

    /// Says now and then how far it is.
    private static func report(_ step: StateCopier.Step) {
        let (verb, table, rows) =
            switch step {
            case .copied(let table, let rows): ("copied", table, rows)
            case .compared(let table, let rows): ("compared", table, rows)
            }
        guard rows / reported > (rows - table.pageSize) / reported else { return }
        Console.error("\(verb) \(rows) rows of \(table.rawValue)")
    }

    private static func explained(_ error: any Error, target: String) -> any Error {
        guard let failure = error as? StateCopier.Failure else { return error }
        switch failure {
        case .targetInUse:
            return CommandFailure(
                .cannotCreate, "The state at '\(target)' has rows of its own and was left as it is (\(failure.code)).",
                code: failure.code)
        case .different(let table):
            return CommandFailure(
                .notAsExpected,
                "The two states differ in '\(table.rawValue)': one was changed meanwhile (\(failure.code)). Stop every "
                    + "gateway, remove the target, and start again.", code: failure.code)
        }
    }
}

/// A state that is named on the command line.
private enum CopyLocation {
    case sqlite(String)
    case postgres(String)

    init(_ text: String) throws {
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgres(text)
        } else if text.hasPrefix("sqlite:"), text.utf8.count > "sqlite:".utf8.count {
            self = .sqlite(String(text.dropFirst("sqlite:".count)))
        } else {
            throw CommandFailure(.usage, "A state is 'sqlite:PATH' or 'postgresql://USER@HOST/DATABASE'.")
        }
    }
}

/// The result.
private struct CopyReport: StateReport {
    let source: String
    let target: String
    let counts: [(table: ByteTableName, rows: Int)]

    private var total: Int { counts.reduce(0) { $0 + $1.rows } }

    var lines: [String] {
        ["from   \(source)", "to     \(target)"]
            + counts.filter { $0.rows > 0 }.map { "\($0.table.rawValue.padded(to: 16))\($0.rows)" }
            + ["\(total) rows were copied and found equal."]
    }

    var json: JSONValue {
        .object([
            "from": .string(source), "to": .string(target), "rows": .integer(total),
            "tables": .object(counts.map { JSONValue.Member($0.table.rawValue, .integer($0.rows)) }),
        ])
    }
}
