// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel

// What a push asks of the stream (design §4): a pull that ends with its stream.
extension PullRunner {
    /// What came of it.
    enum Checked {
        /// What has become of the pushed records, by the table's place and in the order of the subjects.
        case compared([Int: [ConflictCheck.Finding]])
        /// The client has to pull before anything can be compared.
        case outdated(PullRestart)
    }

    /// Streams what has changed since the cursor and looks for records in it.
    ///
    /// The subjects are the records by the table's place in the schema, only of tables that the query asks for. Throws
    /// what a pull throws.
    mutating func check(_ subjects: [Int: [ConflictCheck.Subject]]) async throws -> Checked {
        var machine = PullMachine(query: query, settings: services.pullSettings)
        var action = machine.begin()
        while true {
            switch action {
            case .endCheck(.outdated(let reason)): return .outdated(reason)
            case .endCheck(.complete(let plan, let since)):
                tellUnchecked(machine.refusedTypes)
                return try await compare(subjects, plan, since: since)
            case .fail(let failure): throw failure
            case .answer, .refuse: preconditionFailure("a check ends as a pull")
            default:
                try Task.checkCancellation()
                do {
                    action = machine.handle(try await perform(action))
                } catch {
                    guard let refusal = typesRefused(error, machine) else { throw error }
                    action = machine.handle(refusal)
                }
            }
        }
    }

    private mutating func compare(
        _ subjects: [Int: [ConflictCheck.Subject]], _ plan: SettlementPlan, since: CheckpointVector
    ) async throws -> Checked {
        var input = SettlementInput(
            plan: plan, schema: projection.schema, schemaVersion: projection.schemaVersion,
            order: projection.tableOrder, types: query.ledgered, source: StoreLedgerSource(store: services.store),
            key: services.hashKey)
        input.signs = spooler.signs
        do {
            if let outline { try await look(at: [outline], &input) }
            let check = ConflictCheck(input, since: since)
            var reader = spooler.reader()
            var findings: [Int: [ConflictCheck.Finding]] = [:]
            for (table, subjects) in subjects {
                findings[table] = try await check.findings(table: table, subjects, &reader)
            }
            return .compared(findings)
        } catch let error as LedgerError {
            // The next pull gets everything and another ledger.
            logger.error("a ledger is damaged: a push cannot be compared", metadata: ["code": "\(error.rawValue)"])
            return .outdated(.damagedLedger)
        }
    }

    /// What the backend streams no more can be compared with nothing, and must not stop its devices.
    private func tellUnchecked(_ types: Set<String>) {
        guard !types.isEmpty else { return }
        logger.error(
            "the backend does not stream some request types any more: nobody looks for conflicts of their records",
            metadata: ["code": "backend.types", "types": "\(types.sorted().joined(separator: " "))"])
    }
}
