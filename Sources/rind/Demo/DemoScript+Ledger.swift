// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayConfig
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

// What the ledger is good for: a reset that costs three deletions, and an answer to "why does my phone not have it?"
extension DemoScript {
    /// The tasks that get lost.
    private static let lost = ["t-10", "t-12", "t-13"]

    mutating func reset() async throws {
        printer.step(
            "A reset without wiping",
            """
            Three tasks vanish from the backend without a trace, with what hung on them, and it asks the phone to begin anew.
            Rind streams everything and sends what differs from what it remembers of the phone.
            """)
        let before = try await backend.records()
        try await backend.edit(Self.lost.map { .delete("tasks", $0) })
        try await backend.forgetDeletions()
        try await backend.setPendingReset(true, token: token)
        let (changes, document) = try await pull(token, from: cursor)
        let after = try await backend.records()
        let isExact = before.allSatisfy { table, records in
            Set(Self.ids(document[table]?["deleted"])) == Set(records.keys).subtracting(after[table, default: [:]].keys)
        }
        try printer.expect(isExact, "'deleted' holds the three tasks and what hung on them")
        let rest = (document.members ?? []).flatMap { Self.ids($0.value["created"]) + Self.ids($0.value["updated"]) }
        try printer.expect(rest.isEmpty, "nothing else is sent")
        cursor = changes.timestamp
    }

    mutating func why() async throws {
        printer.step(
            "Why is it not there?", "Ada's phone has lost a task. The operator looks, while the gateway runs.")
        _ = try await pull(token, from: cursor)
        let configuration = try files.configuration()
        guard let table = configuration.schema.table(named: "tasks"), let cursor = Cursor(rawValue: cursor) else {
            return
        }
        let id = Self.lost[0]
        let report: WhyReport? = try await configuration.withState(for: .reading) { store in
            let replicas = try await store.inspection.replicas(of: nil, after: nil, limit: 10)
            guard let phone = replicas.first(where: { $0.newest == cursor }) else { return nil }
            return try await WhyReport(id, in: table, of: phone, configuration: configuration, store: store)
        }
        guard let report else { return try printer.expect(false, "the state has the phone") }
        printer.line(
            "rind why --replica \(report.row.id) --table tasks --id \(id) --config \(files.configurationPath)")
        for line in report.lines { printer.result(line) }
        try printer.expect(report.verdict == .deleted, "the phone was told to delete it")
    }
}
