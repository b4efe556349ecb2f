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
    /// How many bytes of lines are gathered before they are sent.
    private static let batchSize = 64 * 1_024

    /// Sends all operations in one request.
    func sendAll(base: CheckpointVector?, idempotencyKey: String) async throws -> PushEvent {
        let (operations, reader, schemaVersion) = (plan.operations, reader, schemaVersion)
        let result = try await services.backend.pushStream(
            idempotencyKey: idempotencyKey, identity.forwarded
        ) { writer in
            var encoder = OperationEncoder(base: base, schemaVersion: schemaVersion)
            var batch = ByteBuffer()
            for operation in operations {
                batch.writeBytes(encoder.line(operation, try reader.content(of: operation)))
                if batch.readableBytes >= Self.batchSize {
                    try await writer.write(batch)
                    batch.clear()
                }
            }
            if batch.readableBytes > 0 { try await writer.write(batch) }
        }
        switch result {
        case .applied: return .applied
        case .conflict(let records): return .refused(refusal(.conflict, records))
        case .rejected(let records): return .refused(refusal(.rejected, records))
        case .unknown(let error):
            logger.warning(
                "a push's outcome is unknown", metadata: ["code": "\(error.code)", "error": "\(error.text)"])
            return .unknownOutcome
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
            do {
                let outcome = try await services.backend.call(
                    call, values(operation, content), hasBody: operation.kind != .delete, identity.forwarded)
                return try await event(outcome, operation, content)
            } catch let error as BackendError where error.leavesOutcomeUnknown {
                logger.warning("an operation's outcome is unknown", metadata: ["error": "\(error)"])
                return .unknownOutcome
            }
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
            return .refused(PushRefusal(kind: .conflict, records: [record(operation, outcome.message)]))
        case (.rejected, _), (.missing, .create), (.exists, _):
            return .refused(PushRefusal(kind: .rejected, records: [record(operation, outcome.message)]))
        }
    }

    /// Updates what exists already, or creates what is missing: once, and not back again.
    private func sendInstead(
        _ rule: Table.CallRule?, _ operation: PushOperation, _ content: OperationReader.Content
    ) async throws -> PushEvent {
        guard case .call(let call) = rule else { return .applied }
        do {
            let outcome = try await services.backend.call(
                call, values(operation, content), hasBody: true, identity.forwarded)
            switch outcome.meaning {
            case .ok, .exists: return .applied
            case .conflict:
                return .refused(PushRefusal(kind: .conflict, records: [record(operation, outcome.message)]))
            case .missing, .rejected:
                return .refused(PushRefusal(kind: .rejected, records: [record(operation, outcome.message)]))
            }
        } catch let error as BackendError where error.leavesOutcomeUnknown {
            return .unknownOutcome
        }
    }

    /// `{id}`, its parts, and the columns as the backend wants to see them.
    private func values(_ operation: PushOperation, _ content: OperationReader.Content) -> CallValues {
        var values: [String: JSONValue] = ["id": .string(operation.id)]
        for (index, part) in content.key.enumerated() { values["id.\(index + 1)"] = part.value }
        for part in content.key {
            // A deletion names its columns by the parts of the id.
            if let column = content.table.columns.first(where: { $0.outgoingPath == part.path }) {
                values[column.name] = part.value
            }
        }
        for (column, value) in content.record?.values ?? [] { values[column.name] = value }
        return CallValues(values, allColumns: content.record?.data ?? .object([]))
    }

    private func record(_ operation: PushOperation, _ message: String?) -> PushRefusal.Record {
        PushRefusal.Record(
            table: reader.tableName(of: operation), id: operation.id, message: message.map { String($0.prefix(200)) })
    }

    private func refusal(_ kind: PushRefusal.Kind, _ records: [StreamPushResult.Refused]) -> PushRefusal {
        let known = records.compactMap { refused -> PushRefusal.Record? in
            // The line is the gateway's own count; what the backend repeats is only believed where it says nothing else.
            if let line = refused.line, plan.operations.indices.contains(line) {
                return record(plan.operations[line], refused.message)
            }
            guard let table = refused.table, let id = refused.id else { return nil }
            return PushRefusal.Record(table: table, id: id, message: refused.message)
        }
        return PushRefusal(kind: kind, records: known)
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
