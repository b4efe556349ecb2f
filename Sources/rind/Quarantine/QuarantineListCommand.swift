// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind quarantine list`.
struct QuarantineListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the quarantine: pushed records, then lines of streams.",
        discussion: """
            EXAMPLES
              rind quarantine list --config rind.ini
              rind quarantine list --pushes --principal 5f0c1a7e90b2 --config rind.ini
              rind quarantine list --limit 1000 --after push-1000 --config rind.ini --json

            CHANGE is what the app did with the record, or the type of the line. REASON is
            a code of docs/ERRORS.md, with what the backend said. COUNT is how often it was
            refused, or came. RETRY says whether 'rind quarantine retry' has marked it and
            nobody has synced since. What the records hold is shown by 'show' alone.
            """)

    @OptionGroup var state: StateArguments

    @Flag(help: "Only pushed records.")
    var pushes = false

    @Flag(help: "Only lines of streams.")
    var lines = false

    @OptionGroup var owner: PrincipalArgument

    @Option(help: ArgumentHelp("How many at most, 1 to 5000.", valueName: "n"))
    var limit = 100

    @Option(help: ArgumentHelp("Only those behind this one, the last of a list before.", valueName: "id"))
    var after: String?

    func validate() throws {
        guard (1...5_000).contains(limit) else { throw ValidationError("'--limit' takes 1 to 5000.") }
        guard !(pushes && lines) else { throw ValidationError("'--pushes' and '--lines' exclude each other.") }
        if let after { _ = try QuarantineName(validating: after) }
    }

    func run() async throws {
        let last = try after.map(QuarantineName.init(validating:))
        try await state.run(for: .reading) { store, configuration in
            let owner = try await owner.find(in: store, configuration)
            var items: [QuarantineItem] = []
            // One more than asked for, to see whether there are more; lines come behind all pushes.
            if !lines, last?.kind != .line {
                items += try await store.inspection.quarantinedPushes(
                    of: owner, after: last?.number ?? 0, limit: limit + 1
                )
                .map(QuarantineItem.push)
            }
            if !pushes, items.count <= limit {
                let first = last.map { $0.kind == .line ? $0.number : 0 } ?? 0
                items += try await store.inspection.quarantinedLines(
                    of: owner, after: first, limit: limit + 1 - items.count
                )
                .map(QuarantineItem.line)
            }
            return QuarantineList(items: Array(items.prefix(limit)), hasMore: items.count > limit)
        }
    }
}

/// The output of 'list'.
private struct QuarantineList: StateReport {
    let items: [QuarantineItem]
    let hasMore: Bool

    private static let columns: [TextTable.Column] = [
        "ENTRY", "PRINCIPAL", .scope, "TABLE", "RECORD", "CHANGE", "REASON", "COUNT", "FIRST", "LAST", "RETRY",
    ]

    var lines: [String] {
        guard !items.isEmpty else { return ["the quarantine is empty"] }
        var lines = TextTable(
            columns: Self.columns, rows: items.map { [$0.name.description] + $0.cells }
        ).lines
        if hasMore, let last = items.last { lines.append("there are more: --after \(last.name)") }
        return lines
    }

    var json: JSONValue {
        .object([
            "entries": .array(items.map { .object($0.members) }),
            "next": .string(hasMore ? items.last?.name.description : nil),
        ])
    }
}
