// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Closes the journals of interrupted pushes before anything else is done for their principal (finding 19).
///
/// If a record was created and its id was not stored, its own device would get it as a second record. While that cannot
/// be ruled out, neither pull nor push goes on.
struct PushRecovery {
    typealias Open = (journal: PushJournal, inFlight: [InFlightOperation])

    let services: SyncServices
    let identity: CallerIdentity
    let logger: Logger
    /// The caller's push; nil for a pull.
    var push: PushRequest?

    /// Closes the open journals.
    ///
    /// - Precondition: No push runs for the principal meanwhile.
    /// - Throws: The error that keeps a journal open; the caller's request must not go on then.
    func close() async throws {
        let open = try await services.store.read(identity.principal) { try JournalRules.openJournals(of: &$0) }
        guard !open.isEmpty else { return }
        try await services.identities.verify(identity, at: services.clock.now)
        for open in open { try await close(open) }
    }

    private func close(_ open: Open) async throws {
        let inFlight = Dictionary(open.inFlight.filter(\.makesID).map { ($0.index, $0) }) { $1 }
        var runner = PushRecoveryRunner(
            services: services, identity: identity, logger: logger, journal: open.journal, inFlight: inFlight)
        var closing = PushRecoveryMachine(runner.query(push))
        do {
            let (found, lost) = try await drive(&closing, &runner)
            try await close(open, inFlight, found: found, lost: lost)
        } catch {
            await keep(closing.found, inFlight, of: open.journal)
            throw error
        }
    }

    /// Writes what was found if the rest cannot be resolved now.
    ///
    /// Each attempt thus has less to do than the one before. This also works in a cancelled task: the state finishes a
    /// write all the same.
    private func keep(_ found: [Int: String], _ inFlight: [Int: InFlightOperation], of journal: PushJournal) async {
        guard !found.isEmpty else { return }
        var step = JournalStep()
        step.applied = found.keys.sorted()
        (step.mappings, step.notes) = written(found, inFlight)
        do {
            try await services.store.change(identity.principal) {
                try JournalRules.advance(step, of: journal.id, at: services.clock.now, in: &$0)
            }
        } catch {
            logger.notWritten("could not record ids that the backend assigned", error)
        }
    }

    /// Returns the mappings and notes of creations that were found.
    private func written(
        _ found: [Int: String], _ inFlight: [Int: InFlightOperation]
    ) -> (mappings: [IDMapping], notes: [PushNote]) {
        var (mappings, notes) = ([IDMapping](), [PushNote]())
        for (index, id) in found.sorted(by: { $0.key < $1.key }) {
            guard let record = inFlight[index]?.record else { continue }
            if record.id != id {
                mappings.append(IDMapping(table: record.table, clientID: record.id, backendID: id))
            }
            guard let table = services.configuration.schema.table(named: record.table), table.isLedgered,
                services.pullSettings.keepsLedgers, RecordID.isSafe(record.id)
            else { continue }
            // The note from before the push has the record's links.
            notes.append(PushNote(table: record.table, id: record.id, state: .held))
        }
        return (mappings, notes)
    }

    /// Writes what was found, and logs what was not.
    private func close(
        _ open: Open, _ inFlight: [Int: InFlightOperation], found: [Int: String], lost: [Int]
    ) async throws {
        var closure = JournalClosure()
        closure.lost = lost.count
        (closure.mappings, closure.notes) = written(found, inFlight)
        try await services.store.change(identity.principal) {
            try JournalRules.close(open.journal.id, with: closure, at: services.clock.now, in: &$0)
        }
        logger.notice(
            "an interrupted push is resolved",
            metadata: [
                "journal": "\(open.journal.id)", "applied": "\(open.journal.applied)",
                "operations": "\(open.journal.operations)", "in_flight": "\(open.inFlight.count)",
                "found": "\(found.count)", "lost": "\(lost.count)",
            ])
        for record in lost.prefix(20).compactMap({ inFlight[$0]?.record }) {
            logger.warning(
                "create outcome unknown: a duplicate record may appear",
                metadata: [
                    "code": "push.unknown_create", "table": "\(record.table)", "record": "\(record.id)",
                    "journal": "\(open.journal.id)",
                    "hint": "[push] idempotency_header, or 'ref' in the table's 'create'",
                ])
        }
    }
}
