// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel

/// The journal of one push by calls, as its runner knows it.
struct PushRunnerJournal {
    let id: Int64
    let writer: JournalWriter
    /// True if a created or updated record is of a table whose ids the backend makes: pulls of the principal wait until
    /// the push has ended.
    let makesIDs: Bool
}

// The journal of a push by calls (finding 19), in the transactions of `docs/STATE.md`.
extension PushRunner {
    /// Returns true if an operation may create a record that gets its id from the backend.
    ///
    /// Each such operation is noted as in flight on its own.
    func makesID(_ operation: PushOperation) -> Bool {
        let calls = scope.schema.tables[operation.table].calls
        guard case .call(let call) = calls.create, call.returns != nil,
            case .send(let kind) = scope.reader.ids.treatment(of: operation), kind != .delete
        else { return false }
        guard kind == .update else { return true }
        guard case .call(let update) = calls.update else { return false }
        return update.statuses.values.contains(.missing)
    }

    /// Opens the journal and notes all operations as seen.
    mutating func beginJournal() async throws {
        notedAfter = try await notes.begin()
        // Only the last notes go into the transaction that opens the journal: others write to the state, too.
        let last = operations.suffix(PushNotes.atOnce)
        try await notes.writeSeen(operations.dropLast(last.count))
        let seen = try notes.maker.map { maker in try last.compactMap { try maker.note($0, .seen) } }
        let id = try await scope.change {
            try JournalRules.begin(
                presenting: scope.presented, operations: operations.count, notes: seen ?? [], at: scope.now, in: &$0)
        }
        receipts.othersHaveEnded()
        services.journals.begin(id, makesIDs: operations.contains(where: makesID))
        let makesIDs = operations.contains { $0.kind != .delete && scope.schema.tables[$0.table].hasOwnIDs }
        if makesIDs { services.making.begin(scope.principal) }
        journal = PushRunnerJournal(
            id: id,
            writer: JournalWriter { [scope] step in
                try await scope.change { try JournalRules.advance(step, of: id, at: scope.now, in: &$0) }
            }, makesIDs: makesIDs)
    }

    /// Writes which operations were applied or were rejected for good, and which are about to be sent.
    func advance(applied: [Int], rejected: [Int], inFlight: [Int]) async throws {
        guard let journal else { return }
        var step = step(applied: applied, rejected: rejected)
        step.inFlight = inFlight.map { ($0, operations[$0]) }.filter { !makesID($0.1) }.map { index, operation in
            return InFlightOperation(index: index, kind: operation.kind, record: scope.key(at: index))
        }
        guard !step.isEmpty else { return }
        try await journal.writer.write(step)
    }

    /// Returns a step with these outcomes.
    private func step(applied: [Int], rejected: [Int]) -> JournalStep {
        var step = JournalStep()
        (step.applied, step.rejected) = (applied, rejected)
        if let maker = notes.maker { step.notes = step.applied.compactMap { maker.held(operations[$0]) } }
        return step
    }

    /// Sends operations that do not depend on each other, up to `[push] parallel` of them at a time.
    mutating func send(_ indices: [Int], of machine: PushMachine) async -> PushEvent {
        guard let journal else { return .sent([:]) }
        let push = scope.settings
        let sender = CallSender(
            plan: scope.plan, reader: scope.reader, backend: backend, forwarded: identity.forwarded, logger: logger,
            keyHeader: push.idempotencyHeader, keyPrefix: idempotencyKey,
            goesOn: { machine.goesOn(after: $0) }, orphans: OrphanSearch(scope: scope), notes: notes.maker,
            journal: journal.writer, uncertain: Set(machine.unknown))
        let queue = CallQueue(indices)
        let reports = await withTaskGroup(of: [CallReport].self) { group in
            for _ in 0..<min(push.parallel, indices.count) {
                group.addTask {
                    var sender = sender
                    return await sender.run(queue)
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for report in reports {
            if let error = report.delay { delay = error }
            if let error = report.error { failure = error }
            if let message = report.message { lastTrouble = message }
            if let mapping = report.mapping { scope.reader.ids.learn(mapping) }
            if report.result == .applied || report.result == .recorded {
                let operation = operations[report.index]
                scope.reader.ids.unmade.remove(PushReference(table: operation.table, id: operation.id))
            }
        }
        return .sent(Dictionary(reports.map { ($0.index, $0.result) }) { $1 })
    }

    /// Writes the end of the push.
    mutating func endJournal(_ end: PushEnd, of machine: PushMachine) async throws {
        guard let journal else { return }
        var written = JournalEnd(step: step(applied: end.applied, rejected: end.rejected), unknown: end.unknown)
        do {
            try await notes.dropRedeliveries(machine.taken)
        } catch {
            // A redelivery that stays pending although its record was overwritten repeats the record once, which is
            // harmless.
            logger.notWritten("could not clear pending redeliveries after a push", error)
        }
        switch end.outcome {
        case .answered(let keepsReceipt):
            // Before the receipt: once it is stored, a repetition of the push does nothing else.
            try await removeQuarantined(machine.taken)
            written.receipt =
                keepsReceipt ? PushAnswerMaker(scope, rejected: machine.rejected).keptReceipt(receipts.digest) : nil
        case .refused(let refusal):
            let record = refusal.records.first
            written.failure = PushJournal.Failure(
                code: refusal.code, message: record?.message,
                record: record.map { PushedRecordKey(table: $0.table, id: $0.id) })
        case .failed(let failure):
            written.failure = PushJournal.Failure(
                code: code(of: failure), message: lastTrouble, record: end.unknown.first.map(scope.key(at:)))
        case .error:
            let code = failure.map { GatewayError($0).code } ?? GatewayFault.unknown.rawValue
            written.failure = PushJournal.Failure(code: code)
        }
        self.journal = nil
        defer { leave(journal) }
        do {
            try await scope.lastWrite {
                try await scope.change { try JournalRules.end(written, of: journal.id, at: scope.now, in: &$0) }
            }
        } catch StateError.tooLarge where written.receipt != nil {
            logger.notWritten("could not store the receipt of an applied push", StateError.tooLarge("receipt"))
            written.receipt = nil
            try await scope.change { try JournalRules.end(written, of: journal.id, at: scope.now, in: &$0) }
        }
    }

    private func leave(_ journal: PushRunnerJournal) {
        services.journals.end(journal.id)
        if journal.makesIDs { services.making.end(scope.principal) }
    }

    /// Writes what is known about a push that is cut short by an error or by a client that has hung up.
    mutating func abandonJournal(_ machine: PushMachine, because error: any Error) async {
        guard let journal else { return }
        failure = error
        do {
            try await endJournal(machine.interruption, of: machine)
        } catch {
            // The journal stays open until push recovery closes it at the principal's next sync.
            leave(journal)
            logger.notWritten("could not record the end of a push", error)
        }
    }
}
