// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import Gateway
import GatewayConfig
import JSONBytes
import SQLiteState
import StateStore
import SyncMachines
import SyncModel

/// `rind replicas show`.
struct ReplicasShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one replica: what it holds by its ledger, and when that was compared.",
        discussion: """
            EXAMPLES
              rind replicas show 0123456789abcdef --config rind.ini
              rind replicas show 0123 --config rind.ini --json | jq .tables

            A full comparison streams everything that the backend has of a request type and
            compares it with what the replica holds. If too much is gone ('[ledger]
            max_sweep'), the deletions are held back until 'rind replicas accept'.
            At the end stands which operations of the principal's pushes were refused of
            late, and why.
            """)

    @OptionGroup var replica: ReplicaArgument
    @OptionGroup var state: StateArguments

    func run() async throws {
        let name = try replica.name
        try await state.run(for: .reading) { store, configuration in
            let row = try await name.find(in: store)
            return ReplicaReport(
                row: row, configuration: configuration,
                refusals: try await store.read(row.principal) {
                    try RefusalRules.newest(ReplicaReport.shownRefusals, in: &$0)
                })
        }
    }
}

/// All that is known of one replica.
struct ReplicaReport: StateReport {
    /// A request type's full comparison as the operator wants to know it.
    private struct ComparisonState {
        var type: String
        var comparison: FullComparison?
        /// The time when it is due; nil for never, 0 for the next pull.
        var dueAt: Instant?
    }

    /// The number of refused operations that are printed.
    static let shownRefusals = 10

    let row: ReplicaRow
    /// The refused operations of the principal's pushes, from any replica, the newest first.
    let refusals: [RefusalEntry]
    private let comparisons: [ComparisonState]

    init(row: ReplicaRow, configuration: GatewayConfig.Configuration, refusals: [RefusalEntry]) {
        self.row = row
        self.refusals = refusals
        let version = row.schemaVersion ?? configuration.schema.version
        let asked = configuration.schema.tables(at: version).filter(\.isLedgered)
            .flatMap { $0.feeds.compactMap { $0.version(at: version)?.requestType } }
        let schedule = ComparisonSchedule(
            every: configuration.ledger.resweepEvery.milliseconds, maximumRows: configuration.ledger.resweepRows)
        // Of types that the app asks for no longer nothing is compared.
        comparisons = Set(asked).sorted().map { type in
            let comparison = row.comparisons[type]
            let tables = configuration.schema.tables(at: version).filter { table in
                table.feeds.contains { $0.version(at: version)?.requestType == type }
            }
            let rows = tables.reduce(0) { $0 + (row.ledger[$1.name]?.held ?? 0) }
            let dueAt = schedule.dueAt(
                type, mapping: comparison?.mapping ?? "", comparison: comparison, rows: rows, replica: row.id,
                acceptedAt: row.acceptedAt)
            return ComparisonState(
                type: type, comparison: comparison,
                dueAt: row.resyncAt > comparison?.doneAt ?? 0 ? 0 : dueAt.map { max(0, $0) })
        }
    }

    var lines: [String] {
        var lines = [Self.line("replica", row.id.description)] + row.principal.lines
        lines += [
            Self.line("confirmed", row.isConfirmed ? "yes" : "no: it has never come back with a cursor"),
            Self.line("schema", row.schemaVersion.map { "version \($0)" } ?? "never told"),
            Self.line("first seen", MomentText.seconds(row.firstSeen)),
            Self.line("last seen", MomentText.seconds(row.lastSeen) + ", " + row.lastResult.shown(upTo: 80)),
            Self.line("cursor", cursorText),
        ]
        if let horizon = row.horizon { lines.append(Self.line("exact from", MomentText.cursor(horizon))) }
        lines.append(Self.line("ledger", ledgerText))
        if row.resyncAt > 0 {
            let isDue = comparisons.contains { row.resyncAt > $0.comparison?.doneAt ?? 0 }
            let time = MomentText.seconds(row.resyncAt)
            lines.append(Self.line("resync", "asked for at \(time), \(isDue ? "due with the next pulls" : "done")"))
        }
        if !row.released.isEmpty {
            lines.append(Self.line("accepted", "deletions of \(Self.list(row.released)) go with the next comparisons"))
        }
        if !row.blocked.isEmpty {
            lines.append(
                Self.line(
                    "held back",
                    "deletions of \(Self.list(row.blocked)): 'rind replicas accept \(row.id)' releases them"))
        }
        return lines + tableLines + comparisonLines + refusalLines
    }

    private var refusalLines: [String] {
        guard !refusals.isEmpty else { return [] }
        return ["", "REFUSED PUSHES OF THE PRINCIPAL, THE NEWEST FIRST"]
            + refusals.map { entry in
                let (operation, times) = (entry.operation, entry.count > 1 ? ", \(entry.count) times" : "")
                let record = "\(operation.key.table) \(operation.key.id)".shown(upTo: 100)
                return "\(MomentText.seconds(entry.lastAt))  \(operation.kind.rawValue) \(record)\(times): "
                    + operation.explanation.shown(upTo: 300)
            }
    }

    private var cursorText: String {
        guard let newest = row.newest else { return "none" }
        guard let tip = row.tip, tip != newest else {
            return MomentText.cursor(newest) + (row.tip == nil ? ", not come back yet" : "")
        }
        return MomentText.cursor(tip) + " has come back; newest \(MomentText.cursor(newest))"
    }

    private var ledgerText: String {
        row.ledger.isEmpty ? "none" : "\(row.records) records, \(row.ledgerBytes) bytes"
    }

    private static func list(_ types: [String]) -> String {
        types.map { $0.shown(upTo: 60) }.joined(separator: ", ")
    }

    private static func line(_ name: String, _ value: String) -> String { name.padded(to: 12) + value }

    private var tableLines: [String] {
        guard !row.ledger.isEmpty else { return [] }
        let width = max(10, row.ledger.keys.map(\.count).max() ?? 0)
        let head = "TABLE".padded(to: width) + ["RECORDS", "ENTRIES", "BYTES"].map { $0.leftPadded(to: 12) }.joined()
        return ["", head]
            + row.ledger.sorted { $0.key < $1.key }.map { table, count in
                table.padded(to: width)
                    + [count.held, count.entries, count.bytes].map { String($0).leftPadded(to: 12) }.joined()
            }
    }

    private var comparisonLines: [String] {
        guard !comparisons.isEmpty else { return [] }
        let width = max(12, comparisons.map(\.type.count).max() ?? 0)
        let head = "COMPARED".padded(to: width) + "  " + "DONE".padded(to: 20) + "  " + "DUE"
        return ["", head]
            + comparisons.map { state in
                let done = state.comparison.map { $0.doneAt > 0 ? MomentText.seconds($0.doneAt) : "never" } ?? "never"
                let due =
                    state.dueAt.map { $0 == 0 ? "with the next pull" : "from " + MomentText.seconds($0) } ?? "never"
                let tried = state.comparison.map {
                    $0.triedAt > $0.doneAt ? ", tried \(MomentText.seconds($0.triedAt))" : ""
                }
                let failed = state.comparison.map { $0.failures > 0 ? ", failed \($0.failures) times in a row" : "" }
                let isHeldBack = state.comparison?.isBlocked == true && !row.released.contains(state.type)
                let blocked = isHeldBack ? ", held back" : ""
                return state.type.padded(to: width) + "  " + done.padded(to: 20) + "  " + due + (tried ?? "")
                    + (failed ?? "") + blocked
            }
    }

    var json: JSONValue {
        let tables = row.ledger.sorted { $0.key < $1.key }.map { table, count in
            JSONValue.object([
                "table": .string(table), "records": .integer(count.held), "entries": .integer(count.entries),
                "bytes": .integer(count.bytes),
            ])
        }
        let comparisons = comparisons.map { state in
            JSONValue.object([
                "request_type": .string(state.type), "done_at": .moment(state.comparison?.doneAt ?? 0),
                "tried_at": .moment(state.comparison?.triedAt ?? 0), "due_at": .moment(state.dueAt),
                "held_back": .bool(state.comparison?.isBlocked ?? false),
                "failures": .integer(state.comparison?.failures ?? 0),
            ])
        }
        let more: [JSONValue.Member] = [
            .init("confirmed_cursor", .integer(row.tip?.rawValue)), .init("horizon", .integer(row.horizon?.rawValue)),
            .init("accepted", .array(row.released.map { .string($0) })), .init("resync_at", .moment(row.resyncAt)),
            .init("tables", .array(tables)), .init("sweeps", .array(comparisons)),
            .init("refusals", .array(refusals.map(\.json))),
        ]
        return .object((row.summary.members ?? []) + more)
    }
}
