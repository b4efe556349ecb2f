// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import JSONBytes
import Logging
import NIOCore
import SyncEngine
import SyncModel
import WatermelonWire

// How operations reach the backend.
extension PushRunner {
    /// Says in the log whose request it speaks for.
    private var backend: BackendClient {
        var backend = services.backend
        backend.logger = logger
        return backend
    }

    /// Sends all operations in one request.
    mutating func sendAll(
        base: CheckpointVector?, without: Set<Int>, idempotencyKey: String
    ) async throws -> PushEvent {
        let places = plan.operations.indices.filter { !without.contains($0) }
        let lines = OperationLines(operations: places.map { plan.operations[$0] }, reader: reader, base: base)
        switch await attempt(lines, idempotencyKey: idempotencyKey) {
        case .success(.applied): return .applied
        case .success(.refused(let lines)): return .refused(refusal(lines, places))
        case .failure(let error):
            // The key makes it harmless to send it again.
            if let event = notNow(error, isRepeatable: true) { return event }
            guard error.isOutcomeUnknown else { throw error }
            logger.warning("a push's outcome is unknown", metadata: ["code": "\(error.code)", "error": "\(error)"])
            return .unknownOutcome
        }
    }

    /// What the backend puts off; nil for every other failure, and for what may have been applied unless sending it again
    /// does no harm.
    private mutating func notNow(_ error: BackendError, isRepeatable: Bool) -> PushEvent? {
        guard error.isTransient, !error.isOutcomeUnknown || isRepeatable else { return nil }
        if case .busy(_, let after) = error { retryAfter = after }
        logger.notice("the backend puts a push off", metadata: ["code": "\(error.code)", "error": "\(error)"])
        return .notNow(after: retryAfter?.milliseconds, isKnown: !error.isOutcomeUnknown)
    }

    private func attempt(
        _ lines: OperationLines, idempotencyKey: String
    ) async -> Result<StreamPushResult, BackendError> {
        do throws(BackendError) {
            let result = try await backend.pushStream(
                lines, count: lines.operations.count, key: idempotencyKey, identity.forwarded)
            return .success(result)
        } catch {
            return .failure(error)
        }
    }

    /// Sends one operation by the table's template.
    mutating func send(_ index: Int) async throws -> PushEvent {
        let operation = plan.operations[index]
        let content = try reader.content(of: operation)
        let rule: Table.CallRule? =
            switch operation.kind {
            case .create: content.table.calls.create
            case .update: content.table.calls.update ?? content.table.calls.create
            case .delete: content.table.calls.remove
            }
        switch rule {
        case nil:
            return .refused(
                PushRefusal(
                    kind: .rejected,
                    records: [record(operation, "the configuration has no call for this operation")]))
        case .some(.none): return .applied
        // What was changed the backend does not take.
        case .call
        where operation.kind == .update && content.update?.values.isEmpty == true
            && content.record?.values.isEmpty == false:
            return .applied
        case .call(let call):
            let isPart = operation.kind == .update && content.table.calls.update != nil
            return try await perform(call, operation, content, isPart: isPart)
        }
    }

    /// Whether a call may be made again although it may have been carried out: what sets values by id or deletes by id
    /// comes to the same twice, and a create does where the backend says that the record is there already.
    private func isRepeatable(_ call: Call) -> Bool { call.method != "POST" || call.statuses.values.contains(.exists) }

    /// Makes one call; what the backend refuses for good is a refusal, and what nobody knows is said so.
    private mutating func perform(
        _ call: Call, _ operation: PushOperation, _ content: OperationReader.Content, isPart: Bool = false,
        isLast: Bool = false
    ) async throws -> PushEvent {
        switch await attempt(call, values(operation, content, isPart: isPart)) {
        case .success(let outcome):
            return isLast ? lastEvent(outcome, operation) : try await event(outcome, operation, content)
        case .failure(.refused(let status)) where status != 408 && status != 425:
            return rejected(operation, status: status)
        case .failure(.credentialRefused(status: 403)):
            // The stream and the caller's name were not refused: it is about this record.
            return rejected(operation, status: 403)
        case .failure(let error):
            if let event = notNow(error, isRepeatable: isRepeatable(call)) { return event }
            guard error.isOutcomeUnknown else { throw error }
            logger.warning(
                "an operation's outcome is unknown", metadata: ["code": "\(error.code)", "error": "\(error)"])
            return .unknownOutcome
        }
    }

    private func attempt(_ call: Call, _ values: CallValues) async -> Result<CallOutcome, BackendError> {
        do throws(BackendError) {
            return .success(try await backend.call(call, values, identity.forwarded))
        } catch {
            return .failure(error)
        }
    }

    /// What an answer means by the protocol's push rules 2 to 4.
    private mutating func event(
        _ outcome: CallOutcome, _ operation: PushOperation, _ content: OperationReader.Content
    ) async throws -> PushEvent {
        switch (outcome.meaning, operation.kind) {
        case (.ok, _), (.missing, .delete): return .applied
        case (.exists, .create): return try await sendInstead(content.table.calls.update, operation, content)
        case (.missing, .update): return try await sendInstead(content.table.calls.create, operation, content)
        case (.conflict, _):
            return .refused(PushRefusal(kind: .conflict, records: [record(operation, "status \(outcome.status)")]))
        case (.rejected, _), (.missing, .create), (.exists, _):
            return rejected(operation, status: outcome.status)
        }
    }

    /// Updates what exists already, or creates what is missing: once, and not back again.
    private mutating func sendInstead(
        _ rule: Table.CallRule?, _ operation: PushOperation, _ content: OperationReader.Content
    ) async throws -> PushEvent {
        guard case .call(let call) = rule else {
            // An edit of a record that is gone must not vanish with a 2xx (push rule 3).
            let isLost = rule == nil && operation.kind == .update
            let gone = PushRefusal(kind: .conflict, records: [record(operation, "the record is gone")])
            return isLost ? .refused(gone) : .applied
        }
        return try await perform(call, operation, content, isLast: true)
    }

    private func lastEvent(_ outcome: CallOutcome, _ operation: PushOperation) -> PushEvent {
        switch outcome.meaning {
        case .ok: .applied
        case .conflict:
            .refused(PushRefusal(kind: .conflict, records: [record(operation, "status \(outcome.status)")]))
        // Neither there nor not there: somebody else's, most likely. A 2xx would lose the user's edit.
        case .missing, .exists, .rejected: rejected(operation, status: outcome.status)
        }
    }

    private func rejected(_ operation: PushOperation, status: Int) -> PushEvent {
        var record = record(operation, "status \(status)")
        record.status = status
        return .refused(PushRefusal(kind: .rejected, records: [record]))
    }

    /// `{id}`, its parts, and the columns as the backend wants to see them.
    ///
    /// A placeholder stands for its column whatever was changed.
    private func values(
        _ operation: PushOperation, _ content: OperationReader.Content, isPart: Bool
    ) -> CallValues {
        var values = CallValues(
            columns: (isPart ? content.update : content.record).map { record in
                record.values.compactMap { column, value in column.outgoingPath.map { ($0, value) } }
            })
        values.named["id"] = .string(operation.id)
        for (index, part) in content.key.enumerated() {
            values.named["id.\(index + 1)"] = part.value
            // A deletion names its columns by the parts of the id.
            if let column = content.table.columns.first(where: { $0.outgoingPath == part.path }) {
                values.named[column.name] = part.value
            }
        }
        for (column, value) in content.record?.values ?? [] { values.named[column.name] = value }
        if content.table.columns.contains(where: \.isVersion) {
            // Of a deletion the client tells nothing but the id.
            values.named["base"] = content.table.conflicts == .backend ? content.record?.version ?? .null : .null
        }
        return values
    }

    func record(_ operation: PushOperation, _ message: String?, place: Int = 0) -> PushRefusal.Record {
        PushRefusal.Record(
            table: reader.tableName(of: operation), id: operation.id, message: message.map { String($0.prefix(200)) },
            place: place)
    }

    /// What a refused stream push is about; a conflict weighs more, since a new pull may settle the rest.
    ///
    /// Lines are counted in `places`, which has the operations that were sent.
    private func refusal(_ lines: [StreamPushLine], _ places: [Int]) -> PushRefusal {
        let conflicts = lines.filter { $0.outcome == .conflict || $0.outcome == .missing }
        let shown = conflicts.isEmpty ? lines : conflicts
        return PushRefusal(
            kind: conflicts.isEmpty ? .rejected : .conflict,
            records: shown.map { record(plan.operations[places[$0.line]], $0.message, place: places[$0.line]) })
    }

    /// Ids by table, in the order in which the tables first come.
    func recordLists(_ records: [PushRefusal.Record]) -> [RecordList] {
        var lists: [RecordList] = []
        for record in records {
            if let index = lists.firstIndex(where: { $0.table == record.table }) {
                lists[index].ids.append(record.id)
            } else {
                lists.append(RecordList(table: record.table, ids: [record.id]))
            }
        }
        return lists
    }

    /// What the client hears of a backend that has put a push off for too long.
    func busy(applied: Int) -> GatewayError {
        GatewayError(
            status: 503, code: PushFailure.busy.rawValue,
            message: applied > 0
                ? "The server is busy and has taken only some of your changes. Please sync again in a moment."
                : "The server is busy. Please try again in a moment.",
            retryAfter: retryAfter.map { Int($0.components.seconds) } ?? 5)
    }

    /// What the client hears of a refusal: which records, by table.
    func refused(_ refusal: PushRefusal, applied: Int) -> GatewayError {
        let details = recordLists(refusal.records)
        let cause = refusal.records.first?.message.map { "the backend says: \($0)" }
        switch refusal.kind {
        case .conflict:
            return GatewayError(
                status: 409, code: refusal.kind.rawValue,
                message: "Somebody else has changed this in the meantime. Please sync again.", details: details,
                cause: cause, figures: figures)
        case .outdated:
            return GatewayError(
                status: 409, code: refusal.kind.rawValue,
                message: "This device has to get what is new before it can save. Please sync again.",
                figures: figures)
        case .rejected:
            return GatewayError(
                status: 422, code: refusal.kind.rawValue,
                message: applied > 0
                    ? "The server did not accept all of your changes." : "The server did not accept your changes.",
                details: details, cause: cause, figures: figures)
        }
    }
}
