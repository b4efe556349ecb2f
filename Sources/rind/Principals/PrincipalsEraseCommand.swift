// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind principals erase`.
struct PrincipalsEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Deletes everything in the state that belongs to a user.",
        discussion: """
            EXAMPLE
              rind principals erase 17 --config rind.ini
              rind principals erase --principal 5f0c1a7e90b2 --config rind.ini

            For users who have left, or who ask for it by law. The ledgers of their
            devices, cursors, notes of pushes, ids, receipts, journals and quarantined
            records and lines go, in all scopes, and the report counts them by kind. The
            gateway may run. If a device of the user syncs again, it is a stranger:
            '[pull] unknown_cursor' says what it gets.

            Not in the state, so not erased: the logs, which name the user by a digest, and
            backups of the state.
            """)

    @Argument(help: ArgumentHelp("The user: the id that '[identity] principal' finds.", valueName: "user"))
    var user: String?

    @Option(help: ArgumentHelp("This principal instead: its first digits, at least 4.", valueName: "digits"))
    var principal: String?

    @OptionGroup var state: StateArguments

    private var owner: PrincipalArgument {
        var argument = PrincipalArgument()
        (argument.user, argument.principal) = (user, principal)
        return argument
    }

    func validate() throws {
        guard (user == nil) != (principal == nil) else {
            throw ValidationError("Name a user, or '--principal' with the digits of the log.")
        }
        try owner.validate()
    }

    func run() async throws {
        let owner = owner
        try await state.run(for: .changing) { store, configuration in
            guard let found = try await owner.find(in: store, configuration) else { return Erasure(principal: "") }
            return Erasure(principal: found.description, tables: try await store.commands.erase(found))
        }
    }
}

/// The report of an erasure.
private struct Erasure: StateReport {
    let principal: String
    var tables: [String: Int] = [:]

    private var rows: [(name: String, count: Int)] {
        tables.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    var lines: [String] {
        guard !tables.isEmpty else { return ["Nothing of principal \(principal) is in the state."] }
        let width = rows.map(\.name.count).max() ?? 0
        return ["Erased of principal \(principal), by kind:"]
            + rows.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.count)" }
    }

    var json: JSONValue {
        .object([
            "principal": .string(principal), "rows": .integer(tables.values.reduce(0, +)),
            "tables": .object(rows.map { JSONValue.Member($0.name, .integer($0.count)) }),
        ])
    }
}
