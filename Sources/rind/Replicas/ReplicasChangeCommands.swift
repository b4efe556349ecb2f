// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import Gateway
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind replicas forget`.
struct ReplicasForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Forgets a replica with its cursors and its ledger.",
        discussion: """
            EXAMPLE
              rind replicas forget 0123456789abcdef --config rind.ini

            For a device that is gone for good, or one whose ledger is damaged. If the
            device comes back, its cursor is unknown, and '[pull] unknown_cursor' says what
            it gets; nothing on it is touched before that. To have a device compared with
            the backend, use 'rind replicas resync'.
            """)

    @OptionGroup var replica: ReplicaArgument
    @OptionGroup var state: StateArguments

    func run() async throws {
        let name = try replica.name
        try await state.run(for: .changing) { store, _ in
            let row = try await name.find(in: store, evenDamaged: true)
            // Another command may have been faster: then it is gone, too.
            try await store.change(row.principal) { try ReplicaRules.forget(row.id, at: SystemClock().now, in: &$0) }
            return ReplicaChange(
                row: row, change: "forgotten",
                sentence: "\(row.id) is forgotten. If the device comes back, '[pull] unknown_cursor' says what it gets."
            )
        }
    }
}

/// `rind replicas resync`.
struct ReplicasResyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resync", abstract: "Has all that a replica holds compared with the backend.",
        discussion: """
            EXAMPLE
              rind replicas resync 0123456789abcdef --config rind.ini

            For a device on which records are missing, are left that the backend does not
            have, or have other values. Its next pull streams everything anew and sends all
            of it in 'updated', since the ledger is not trusted to know what the device
            has; what is gone is deleted. Unsynced edits of records that still exist
            survive. It costs about as much as a first sync. '[ledger] max_sweep' holds as
            ever.
            """)

    @OptionGroup var replica: ReplicaArgument
    @OptionGroup var state: StateArguments

    func run() async throws {
        let name = try replica.name
        try await state.run(for: .changing) { store, _ in
            let row = try await name.find(in: store)
            try await store.change(row.principal) { try ReplicaRules.resync(row.id, at: SystemClock().now, in: &$0) }
            return ReplicaChange(
                row: row, change: "resync",
                sentence:
                    "\(row.id) is compared with the backend by its next pull, which sends it everything once more.")
        }
    }
}

/// `rind replicas accept`.
struct ReplicasAcceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Lets a replica have the deletions that were held back.",
        discussion: """
            EXAMPLE
              rind replicas list --config rind.ini
              rind replicas show 0123456789abcdef --config rind.ini
              rind replicas accept 0123456789abcdef --config rind.ini

            If a comparison finds that much of a table has gone from the backend ('[ledger]
            max_sweep'), nothing of it is deleted on the device until this command says
            that it is right. Look at the backend first: is it whole, and has the user
            lost access to so much? Then the next comparison deletes what is gone by then,
            once.
            """)

    @OptionGroup var replica: ReplicaArgument
    @OptionGroup var state: StateArguments

    func run() async throws {
        let name = try replica.name
        try await state.run(for: .changing) { store, _ in
            let row = try await name.find(in: store)
            // Leave that is given ahead would let the next accident pass.
            guard !row.blocked.isEmpty else {
                let sentence =
                    row.released.isEmpty
                    ? "Nothing is held back from \(row.id); nothing was changed."
                    : "What was held back from \(row.id) is accepted already; nothing was changed."
                return ReplicaChange(row: row, change: nil, sentence: sentence)
            }
            // The gateway's clock may be ahead of this one.
            let heldBackAt = row.comparisons.values.map(\.blockedAt).max() ?? 0
            try await store.change(row.principal) {
                try ReplicaRules.acceptDeletions(of: row.id, at: max(heldBackAt, SystemClock().now), in: &$0)
            }
            let types = row.blocked.map { $0.shown(upTo: 60) }.joined(separator: ", ")
            return ReplicaChange(
                row: row, change: "accepted",
                sentence: "\(row.id) may have the deletions of \(types) with its next comparison.")
        }
    }
}

/// The changes by a command.
struct ReplicaChange: StateReport {
    let row: ReplicaRow
    /// The stable word for it; nil where nothing was to be changed.
    let change: String?
    let sentence: String

    var lines: [String] { [sentence] }

    var json: JSONValue {
        .object([
            "id": .string(row.id.description), "changed": .bool(change != nil), "change": .string(change),
            "held_back": .array(row.blocked.map { .string($0) }),
        ])
    }
}
