// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind replicas list`.
struct ReplicasListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists replicas, by their IDs or by their last contact.",
        discussion: """
            EXAMPLES
              rind replicas list --config rind.ini
              rind replicas list --config rind.ini --principal 5f0c1a7e90b2
              rind replicas list --config rind.ini --user 42
              rind replicas list --config rind.ini --sort last-contact --limit 20
              rind replicas list --config rind.ini --limit 1000 --after 7fa3c0de12345678

            PRINCIPAL is whom the replica belongs to, as the log's 'principal' shows it.
            SCOPE is what its syncs are about, where calls use a part of their address; a
            user is another principal in each scope, and '--user' lists them all.
            CONFIRMED says whether the device has ever come back with a cursor. HELD BACK
            names the request types whose deletions wait for 'rind replicas accept'.
            """)

    @OptionGroup var state: StateArguments

    @OptionGroup var owner: PrincipalArgument

    /// The orders of a list.
    enum Order: String, ExpressibleByArgument, CaseIterable {
        case id
        case lastContact = "last-contact"
    }

    @Option(
        help: ArgumentHelp(
            "The order: 'id', or 'last-contact' with the newest first, of all users only by the hour.",
            valueName: "order"))
    var sort = Order.id

    @Option(help: ArgumentHelp("How many at most, 1 to 5000.", valueName: "n"))
    var limit = 100

    @Option(help: ArgumentHelp("Only those behind this one, the last of a list before.", valueName: "id"))
    var after: String?

    func validate() throws {
        guard (1...5_000).contains(limit) else { throw ValidationError("'--limit' takes 1 to 5000.") }
        if let after, after.count != 16 || UInt64(after, radix: 16) == nil {
            throw ValidationError("'--after' takes the 16 digits of a replica.")
        }
    }

    func run() async throws {
        try await state.run(for: .reading) { store, configuration in
            let owner = try await owner.find(in: store, configuration)
            // No replica has a greater number.
            let first = after.flatMap { UInt64($0, radix: 16) }.map { ReplicaID(rawValue: Int64(clamping: $0)) }
            // One more, to see whether there are more.
            let rows =
                switch sort {
                case .id: try await store.inspection.replicas(of: owner, after: first, limit: limit + 1)
                case .lastContact:
                    try await store.inspection.replicasByContact(of: owner, after: first, limit: limit + 1)
                }
            if sort == .lastContact, rows.isEmpty, let first { try await Self.require(first, in: store) }
            return ReplicaList(rows: Array(rows.prefix(limit)), hasMore: rows.count > limit)
        }
    }

    /// Ends the list, because no replica is behind one that has been removed: its last contact went with it.
    private static func require(_ replica: ReplicaID, in store: CommandState) async throws {
        let before = ReplicaID(rawValue: max(1, replica.rawValue) - 1)
        guard try await store.inspection.replicas(of: nil, after: before, limit: 1).first?.id != replica else { return }
        throw CommandFailure(
            .noInput,
            "There is no replica \(replica) any more, so its successor by last contact is unknown. Begin anew "
                + "without '--after'.")
    }
}

/// A page of replicas.
struct ReplicaList: StateReport {
    let rows: [ReplicaRow]
    let hasMore: Bool

    private static let columns: [TextTable.Column] = [
        "REPLICA", "PRINCIPAL", .scope, "CONFIRMED", "SCHEMA", "FIRST SEEN", "LAST SEEN", "LAST RESULT",
        .init(title: "RECORDS", isNumber: true), .init(title: "LEDGER", isNumber: true), "HELD BACK",
    ]

    var lines: [String] {
        guard !rows.isEmpty else { return ["no replicas"] }
        var lines = TextTable(columns: Self.columns, rows: rows.map(Self.cells)).lines
        if hasMore, let last = rows.last { lines.append("there are more: --after \(last.id)") }
        return lines
    }

    var json: JSONValue {
        .object([
            "replicas": .array(rows.map(\.summary)),
            "next": .string(hasMore ? rows.last?.id.description : nil),
        ])
    }

    private static func cells(_ row: ReplicaRow) -> [String] {
        guard !row.isDamaged else {
            return [row.id.description, row.principal.description, row.principal.shownScope]
                + Array(repeating: "-", count: 4) + [row.lastResult, "-", "-", ""]
        }
        return [
            row.id.description, row.principal.description, row.principal.shownScope, row.isConfirmed ? "yes" : "no",
            row.schemaVersion.map(String.init) ?? "-", MomentText.seconds(row.firstSeen),
            MomentText.seconds(row.lastSeen), row.lastResult.shown(upTo: 40), String(row.records),
            String(row.ledgerBytes), row.blocked.map { $0.shown(upTo: 60) }.joined(separator: ", "),
        ]
    }
}
