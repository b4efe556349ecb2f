// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Deduplication
import GatewayConfig
import Ledger
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Runs the stream for a push's conflict check or for push recovery, which only search its lines.
struct CheckRunner {
    /// The result of a check.
    enum Checked {
        /// The changes of the pushed records.
        case compared(Comparison)
        /// The client has to pull before anything can be compared.
        case outdated(FullStreamReason)
    }

    /// The result of a comparison, by the table's index and in the order of the subjects.
    struct Comparison {
        /// The findings for each table's subjects.
        var findings: [Int: [ConflictCheck.Finding]] = [:]
        /// The present rows of some changed records, by the table's index and the subject's.
        var rows: [Int: [Int: [UInt8]]] = [:]
    }

    /// The greatest number of rows that are kept, and their greatest total size in bytes.
    private static let keptRows = 64
    private static let keptBytes = 64 << 10

    private let scope: PullScope
    private var stream: StreamRunner
    private var device: DeviceState

    init(_ scope: PullScope) {
        self.scope = scope
        stream = StreamRunner(scope, isCheck: true)
        device = DeviceState(scope)
    }

    /// Streams everything since the cursor and searches it for records.
    ///
    /// The subjects are grouped by the table's index in the schema, only for tables that the query asks for. Throws the
    /// errors of a pull.
    mutating func check(_ subjects: [Int: [ConflictCheck.Subject]]) async throws -> Checked {
        switch try await run() {
        case .outdated(let reason): return .outdated(reason)
        case .complete(let plan, let since, let refused):
            logUnchecked(refused)
            return try await compare(subjects, plan, since: since)
        }
    }

    /// Streams everything since the cursor and lets a search inspect its lines.
    ///
    /// - Returns: The search, and the request types that the backend has refused, which brought it no lines; nil if the
    ///   stream cannot go on from the cursor.
    mutating func look(
        for search: CreationSearch
    ) async throws -> (search: CreationSearch, refused: Set<String>)? {
        stream.creations = search
        guard case .complete(_, _, let refused) = try await run() else { return nil }
        return stream.creations.map { ($0, refused) }
    }

    /// Runs a check to the end of its stream.
    private mutating func run() async throws -> CheckedStream {
        var machine = CheckMachine(query: scope.query, settings: scope.services.pullSettings)
        return try await drive(&machine, &self)
    }

    private mutating func compare(
        _ subjects: [Int: [ConflictCheck.Subject]], _ plan: LedgerDiffPlan, since: CheckpointVector
    ) async throws -> Checked {
        let projection = scope.projection
        var input = LedgerDiffInput(
            plan: plan, schema: projection.schema, schemaVersion: projection.schemaVersion,
            order: projection.tableOrder, types: scope.query.ledgered, source: scope.store.chunkReader,
            key: scope.services.hashKey)
        input.signs = stream.spooler.signs
        do {
            if let outline = device.outline {
                _ = try await device.look(at: [outline], &input, notesUpTo: stream.spooler.isEmpty ? nil : 0)
            }
            let check = ConflictCheck(input, since: since)
            var reader = stream.spooler.reader()
            var findings: [Int: [ConflictCheck.Located]] = [:]
            for (table, subjects) in subjects {
                findings[table] = try await check.findings(table: table, subjects, &reader)
            }
            return .compared(
                Comparison(findings: findings.mapValues { $0.map(\.finding) }, rows: try await rows(findings)))
        } catch let error as LedgerError {
            // The next pull is a full stream and makes another ledger.
            scope.logger.error(
                "a ledger is damaged: a push cannot be compared", metadata: ["code": "\(error.rawValue)"])
            return .outdated(.damagedLedger)
        }
    }

    /// Returns the backend's rows of records in conflict, in the client's form, as many as fit into an error answer.
    private mutating func rows(
        _ findings: [Int: [ConflictCheck.Located]]
    ) async throws -> [Int: [Int: [UInt8]]] {
        let changed = findings.sorted { $0.key < $1.key }.flatMap { table, findings in
            findings.enumerated().filter { $1.finding == .changed || $1.finding == .appeared }
                .map { (table: table, subject: $0, line: $1.line) }
        }
        guard !changed.isEmpty else { return [:] }
        let spool = try await stream.spooler.finish(
            DiffedLines(verdicts: stream.spooler.verdicts), absences: [])
        var rows: [Int: [Int: [UInt8]]] = [:]
        var rest = Self.keptBytes
        for (table, subject, line) in changed.prefix(Self.keptRows) {
            guard let line, let row = try await spool.row(line, of: table, upTo: rest) else { continue }
            rest -= row.count
            rows[table, default: [:]][subject] = row
        }
        return rows
    }

    /// Logs types that the backend no longer streams: they cannot be compared, and must not stop their devices.
    private func logUnchecked(_ types: Set<String>) {
        guard !types.isEmpty else { return }
        scope.logger.error(
            "the backend no longer streams some request types: their records are not checked for conflicts",
            metadata: ["code": "backend.types", "types": "\(types.sorted().joined(separator: " "))"])
    }
}

extension CheckRunner: Effects {
    mutating func end(_ action: CheckAction, of machine: CheckMachine) async throws -> CheckedStream? {
        switch action {
        case .end(let stream): return stream
        case .fail(let failure):
            scope.log(unexpected: machine.unexpected)
            throw failure
        case .loadContext, .stream: return nil
        }
    }

    mutating func perform(_ action: CheckAction, of machine: CheckMachine) async throws -> CheckEvent {
        try Task.checkCancellation()
        switch action {
        case .loadContext:
            let context = try await device.load()
            stream.takeOver(device)
            return .context(context)
        case .stream(let action): return .stream(try await stream.perform(action))
        case .end, .fail: throw PullFailure.unexpectedEvent
        }
    }

    /// Returns the event for an error: only errors of the stream have events.
    mutating func event(
        for error: any Error, of action: CheckAction, of machine: CheckMachine
    ) async throws -> CheckEvent {
        switch action {
        case .stream(let action):
            return .stream(try stream.event(for: error, of: action, reading: machine.refusalReading))
        case .loadContext, .end, .fail: throw error
        }
    }
}
