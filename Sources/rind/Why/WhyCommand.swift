// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import GatewayConfig
import SQLiteState
import StateStore
import SyncModel

/// `rind why`.
struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Tells what the gateway knows of one record on one device, and why.",
        discussion: """
            EXAMPLES
              rind why --replica 0123456789abcdef --table tasks --id t-17 --config rind.ini
              rind why --replica 0123 --table tasks --id t-17 --config rind.ini --json
              rind why --user 42 --table tasks --id t-17 --config rind.ini

            It looks into the replica's ledger, the notes of pushes and the quarantine:
            whether the device holds the record, since which cursor, with which content (a
            digest: contents are not kept), which record it hangs on, or what kept it from
            coming. 'rind replicas list' shows the replicas; the log names one with each
            sync. '--user' or '--principal' is enough for a user who has one device.

            It works while the gateway runs, and changes nothing. The status is 0 whatever
            the answer is.
            """)

    @Option(help: ArgumentHelp("The replica's digits, at least 4 of them.", valueName: "id"))
    var replica: String?

    @OptionGroup var owner: PrincipalArgument

    @Option(help: ArgumentHelp("The client's table.", valueName: "name"))
    var table: String

    @Option(help: ArgumentHelp("The record's id as the client has it.", valueName: "id"))
    var id: String

    @OptionGroup var state: StateArguments

    func validate() throws {
        guard (replica == nil) != owner.isEmpty else {
            throw ValidationError("Name the device: with '--replica', or by its '--user' or '--principal'.")
        }
        if let replica { _ = try ReplicaName(validating: replica) }
        guard RecordID.isSafe(id) else {
            throw ValidationError(
                "'\(id.shown(upTo: 80))' is no id that a client can hold: letters, digits, '_', '.' and '-' only. "
                    + "A line with such an id is in quarantine: 'rind quarantine list' shows it.")
        }
    }

    func run() async throws {
        try await state.run(for: .reading) { store, configuration in
            guard let table = configuration.schema.table(named: table) else {
                let names = configuration.schema.tables.map(\.name).joined(separator: ", ")
                throw CommandFailure(
                    .usage, "The configuration has no table '\(self.table.shown(upTo: 80))'; it has \(names).")
            }
            return try await WhyReport(
                id, in: table, of: try await device(in: store, configuration), configuration: configuration,
                store: store)
        }
    }

    /// Finds the replica, or the only one of its principal.
    private func device(
        in store: CommandState, _ configuration: GatewayConfig.Configuration
    ) async throws -> ReplicaRow {
        if let replica { return try await ReplicaName(validating: replica).find(in: store) }
        let principal = try await owner.find(in: store, configuration)
        let rows = try await store.inspection.replicasByContact(of: principal, after: nil, limit: 6)
        if rows.count == 1 { return try rows[0].readable() }
        let names = rows.prefix(5).map { row in
            let scope = row.principal.scope.map { "\($0.shown(upTo: 100)), " } ?? ""
            return "\(row.id) (\(scope)\(row.isDamaged ? row.lastResult : "seen \(MomentText.seconds(row.lastSeen))"))"
        }.joined(separator: ", ")
        throw CommandFailure(
            rows.isEmpty ? .noInput : .usage,
            rows.isEmpty
                ? "The state knows no device of them."
                : "They have several devices: \(names)\(rows.count > 5 ? ", …" : ""). Name one with '--replica'.")
    }
}
