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
    func sendAll(base: CheckpointVector?, idempotencyKey: String) async throws -> PushEvent {
        let lines = OperationLines(operations: plan.operations, reader: reader, base: base)
        switch await attempt(lines, idempotencyKey: idempotencyKey) {
        case .success(.applied): return .applied
        case .success(.refused(let lines)): return .refused(refusal(lines))
        case .failure(let error):
            guard error.isOutcomeUnknown else { throw error }
            logger.warning("a push's outcome is unknown", metadata: ["code": "\(error.code)", "error": "\(error)"])
            return .unknownOutcome
        }
    }

    private func attempt(
        _ lines: OperationLines, idempotencyKey: String
    ) async -> Result<StreamPushResult, BackendError> {
        do throws(BackendError) {
            let result = try await backend.pushStream(
                lines, count: plan.operations.count, key: idempotencyKey, identity.forwarded)
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
        case .call(let call):
            return try await perform(call, operation, content) { outcome in
                try await event(outcome, operation, content)
            }
        }
    }

    /// Makes one call; what the backend refuses for good is a refusal, and what nobody knows is said so.
    private func perform(
        _ call: Call, _ operation: PushOperation, _ content: OperationReader.Content,
        _ meaning: (CallOutcome) async throws -> PushEvent
    ) async throws -> PushEvent {
        switch await attempt(call, values(operation, content)) {
        case .success(let outcome): return try await meaning(outcome)
        case .failure(.refused(let status)) where status != 408 && status != 425:
            return rejected(operation, "status \(status)")
        case .failure(let error) where error.isOutcomeUnknown:
            logger.warning(
                "an operation's outcome is unknown", metadata: ["code": "\(error.code)", "error": "\(error)"])
            return .unknownOutcome
        case .failure(let error): throw error
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
    private func event(
        _ outcome: CallOutcome, _ operation: PushOperation, _ content: OperationReader.Content
    ) async throws -> PushEvent {
        switch (outcome.meaning, operation.kind) {
        case (.ok, _), (.missing, .delete): return .applied
        case (.exists, .create): return try await sendInstead(content.table.calls.update, operation, content)
        case (.missing, .update): return try await sendInstead(content.table.calls.create, operation, content)
        case (.conflict, _):
            return .refused(PushRefusal(kind: .conflict, records: [record(operation, "status \(outcome.status)")]))
        case (.rejected, _), (.missing, .create), (.exists, _):
            return rejected(operation, "status \(outcome.status)")
        }
    }

    /// Updates what exists already, or creates what is missing: once, and not back again.
    private func sendInstead(
        _ rule: Table.CallRule?, _ operation: PushOperation, _ content: OperationReader.Content
    ) async throws -> PushEvent {
        guard case .call(let call) = rule else {
            // An edit of a record that is gone must not vanish with a 2xx (push rule 3).
            let isLost = rule == nil && operation.kind == .update
            let gone = PushRefusal(kind: .conflict, records: [record(operation, "the record is gone")])
            return isLost ? .refused(gone) : .applied
        }
        return try await perform(call, operation, content) { outcome in
            switch outcome.meaning {
            case .ok: .applied
            case .conflict:
                .refused(PushRefusal(kind: .conflict, records: [record(operation, "status \(outcome.status)")]))
            // Neither there nor not there: somebody else's, most likely. A 2xx would lose the user's edit.
            case .missing, .exists, .rejected: rejected(operation, "status \(outcome.status)")
            }
        }
    }

    private func rejected(_ operation: PushOperation, _ message: String) -> PushEvent {
        .refused(PushRefusal(kind: .rejected, records: [record(operation, message)]))
    }

    /// `{id}`, its parts, and the columns as the backend wants to see them.
    private func values(_ operation: PushOperation, _ content: OperationReader.Content) -> CallValues {
        var values = CallValues(
            columns: content.record.map { record in
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
        return values
    }

    private func record(_ operation: PushOperation, _ message: String?) -> PushRefusal.Record {
        PushRefusal.Record(
            table: reader.tableName(of: operation), id: operation.id, message: message.map { String($0.prefix(200)) })
    }

    /// What a refused stream push is about; a conflict weighs more, since a new pull may settle the rest.
    private func refusal(_ lines: [StreamPushLine]) -> PushRefusal {
        let conflicts = lines.filter { $0.outcome == .conflict || $0.outcome == .missing }
        let shown = conflicts.isEmpty ? lines : conflicts
        return PushRefusal(
            kind: conflicts.isEmpty ? .rejected : .conflict,
            records: shown.map { record(plan.operations[$0.line], $0.message) })
    }

    /// What the client hears of a refusal: which records, by table.
    func refused(_ refusal: PushRefusal, applied: Int) -> GatewayError {
        var details: [RecordList] = []
        for record in refusal.records {
            if let index = details.firstIndex(where: { $0.table == record.table }) {
                details[index].ids.append(record.id)
            } else {
                details.append(RecordList(table: record.table, ids: [record.id]))
            }
        }
        let cause = refusal.records.first?.message.map { "the backend says: \($0)" }
        switch refusal.kind {
        case .conflict:
            return GatewayError(
                status: 409, code: refusal.kind.rawValue,
                message: "Somebody else has changed this in the meantime. Please sync again.", details: details,
                cause: cause)
        case .rejected:
            return GatewayError(
                status: 422, code: refusal.kind.rawValue,
                message: applied > 0
                    ? "The server did not accept all of your changes." : "The server did not accept your changes.",
                details: details, cause: cause)
        }
    }
}
