// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Ledger
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Prepares a push: finds its quarantined records, the descendants of deleted records, and the order of deletions.
struct PushPreparation: Effects {
    /// The consequences of deletions for other records.
    private struct Consequences {
        var added: [Int: [String]] = [:]
        var references: [PushReference: [PushReference]] = [:]
    }

    private var scope: PushScope
    private var ledger: (row: CursorRow, outline: LedgerOutline)?
    private var found = Consequences()

    private init(_ scope: PushScope) { self.scope = scope }

    /// Returns the push as it is to be sent.
    ///
    /// - Throws: `GatewayError` if the push cannot be taken, and the state's errors.
    static func prepare(_ scope: PushScope) async throws -> PushScope {
        var preparation = PushPreparation(scope)
        var machine = PushPreparationMachine(query: preparation.query)
        return try await drive(&machine, &preparation)
    }

    /// True if one operation that can never be sent fails the push; it is then found before anything is sent.
    private var isRefusedWhole: Bool { scope.settings.rejected == .fail && !scope.isRetry }

    private var query: PushPreparationMachine.Query {
        let operations = scope.plan.operations
        var query = PushPreparationMachine.Query(
            saysEnough: scope.request.lastPulledAt != nil || scope.isRetry || scope.settings.withoutCursor == .accept,
            unfitID: isRefusedWhole ? operations.firstIndex { !RecordID.fits($0.id) } : nil)
        guard scope.services.pullSettings.keepsLedgers, !scope.isRetry else { return query }
        if DescendantSearch.isNeeded(for: operations, in: scope.schema) {
            query.deletions = .cascading
        } else if DeletionReferences.areNeeded(for: operations, in: scope.schema) {
            query.deletions = .ordered
        }
        return query
    }

    mutating func perform(
        _ action: PushPreparationMachine.Action, of machine: PushPreparationMachine
    ) async throws -> PushPreparationMachine.Event {
        switch action {
        case .loadQuarantine:
            logUnknownNames()
            logUnreachable()
            try await loadQuarantine()
        case .loadLedger: return .ledger(try await loadLedger())
        case .findDescendants: return try await findDescendants()
        case .checkLedger: return .current(try await isCurrent)
        case .verifyCredential:
            try await scope.services.identities.verify(scope.identity, at: scope.now, from: ledger?.row.vector)
        case .follow, .goOn, .fail: throw PushFailure.unexpectedEvent
        }
        return .done
    }

    mutating func end(
        _ action: PushPreparationMachine.Action, of machine: PushPreparationMachine
    ) async throws -> PushScope? {
        switch action {
        case .follow: follow()
        case .goOn(let isUnknown): if isUnknown { logUnknownDescendants() }
        case .fail(let obstacle): throw error(obstacle, machine.unexpected)
        case .loadQuarantine, .loadLedger, .findDescendants, .checkLedger, .verifyCredential: return nil
        }
        return scope
    }

    /// Returns the event for an error.
    mutating func event(
        for error: any Error, of action: PushPreparationMachine.Action, of machine: PushPreparationMachine
    ) async throws -> PushPreparationMachine.Event {
        switch (action, error) {
        case (.findDescendants, let error as LedgerError):
            logDamage(error)
            return .damaged
        case (.findDescendants, DescendantSearch.Failure.tooMany): return .tooMany
        default: throw error
        }
    }
}

// Lookups.
extension PushPreparation {
    /// Loads which of the principal's records are in quarantine, since the push may resolve them.
    ///
    /// An update of such a record carries all columns, because the backend never got the earlier change.
    private mutating func loadQuarantine() async throws {
        guard scope.known?.hasQuarantined ?? true else { return }
        scope.quarantined = try await scope.read { try QuarantineRules.kinds(of: &$0) }
        scope.reader.wholeRecords = Set(scope.quarantined.keys)
    }

    /// Loads the ledger of the presented cursor.
    ///
    /// Returns false if there is none, or if it is not exact.
    private mutating func loadLedger() async throws -> Bool {
        ledger = try await scope.ledger()
        return ledger != nil
    }

    private mutating func findDescendants() async throws -> PushPreparationMachine.Event {
        guard let ledger else { return .damaged }
        found = try await consequences(try await scope.held(ledger))
        return .found
    }

    private func consequences(_ held: HeldRecords) async throws -> Consequences {
        let operations = scope.plan.operations
        var consequences = Consequences()
        if DescendantSearch.isNeeded(for: operations, in: scope.schema) {
            var search = DescendantSearch(held)
            consequences.added = try await search.run(operations)
        }
        var deleted = consequences.added
        for operation in operations where operation.kind == .delete {
            deleted[operation.table, default: []].append(operation.id)
        }
        consequences.references = try await DeletionReferences(held).find(deleted)
        return consequences
    }

    /// True if no other pull has compacted the ledger during this push.
    private var isCurrent: Bool {
        get async throws {
            guard let outline = ledger?.outline else { return false }
            return try await scope.read { try $0.replica(outline.replica)?.ledger.version } == outline.version
        }
    }

    /// Adds the deletions of descendants, and puts all deletions into the order of their records.
    private mutating func follow() {
        let (reader, references) = (scope.reader, found.references)
        scope.plan = PushPlan(changes: changes(adding: found.added), schema: scope.schema) { operation in
            guard operation.kind == .delete else { return reader.references(of: operation) }
            return references[PushReference(table: operation.table, id: operation.id)] ?? []
        }
        scope.figures.descendants = found.added.values.reduce(0) { $0 + $1.count }
        scope.figures.deletions += scope.figures.descendants
    }

    private func changes(adding added: [Int: [String]]) -> [PushedTable] {
        var changes = scope.request.changes.tables
        for (index, ids) in added.sorted(by: { $0.key < $1.key }) {
            let name = scope.schema.tables[index].name
            if let index = changes.firstIndex(where: { $0.name == name }) {
                changes[index].deleted += ids
            } else {
                changes.append(PushedTable(name: name, deleted: ids))
            }
        }
        return changes
    }
}

// Logs and errors.
extension PushPreparation {
    /// Logs, once for each push, the names that are not in the configuration, so that edits are not dropped silently.
    private mutating func logUnknownNames() {
        let unknown = UnknownNames(scope.plan, reader: scope.reader, schema: scope.schema)
        scope.figures.dropped = unknown.count
        guard unknown.count > 0 else { return }
        scope.logger.warning(
            "a push has tables or columns that the configuration does not have; they were dropped",
            metadata: [
                "code": "push.unknown_names", "dropped": "\(unknown.count)",
                "tables": "\(unknown.tables.joined(separator: " "))",
                "columns": "\(unknown.columns.joined(separator: " "))",
            ])
    }

    /// Logs records whose ids no pull can return.
    ///
    /// A backend may accept any text as an id, but such a record stays on its device.
    private func logUnreachable() {
        let records = scope.plan.operations.count { !RecordID.isSafe($0.id) }
        guard records > 0 else { return }
        scope.logger.warning(
            "records have ids that no other device can get",
            metadata: ["code": "push.unreachable_ids", "records": "\(records)"])
    }

    private func logDamage(_ error: LedgerError) {
        scope.logger.error(
            "a ledger is damaged: the descendants of deleted records are unknown",
            metadata: ["code": "\(error.rawValue)", "replica": "\(ledger?.row.replica.description ?? "")"])
    }

    private func logUnknownDescendants() {
        scope.logger.warning(
            "the descendants of deleted records are unknown: the backend has to deal with them",
            metadata: ["code": "push.cascade_unknown", "has_time": "\(scope.request.lastPulledAt != nil)"])
    }

    /// Returns the error for a push that cannot be taken.
    private func error(_ obstacle: PreparationFailure, _ unexpected: UnexpectedEvent?) -> any Error {
        switch obstacle {
        case .withoutTime: return GatewayFault.pushWithoutTime
        case .unfitID(let index):
            let operation = scope.plan.operations[index]
            let list = RecordList(table: scope.reader.tableName(of: operation), ids: [ForeignText.cut(operation.id)])
            return GatewayError(fault: .recordID, details: [list])
        case .tooManyDescendants:
            return GatewayError(
                fault: .tooManyDescendants,
                cause: "more than \(DescendantSearch.maximum) records hang on what the push deletes",
                figures: scope.figures)
        case .outdated: return PushAnswerMaker(scope).refused(PushRefusal(kind: .outdated, records: []), applied: 0)
        case .ledgerChanged: return StateError.ledgerChanged
        case .unexpectedEvent:
            scope.logger.error(
                "a push got an event that no action had asked for",
                metadata: [
                    "code": "\(PushFailure.unexpectedEvent.rawValue)", "state": "\(unexpected?.state ?? "")",
                    "event": "\(unexpected?.event ?? "")",
                ])
            return PushFailure.unexpectedEvent
        }
    }
}
