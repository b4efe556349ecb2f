// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import GatewayConfig
import JSONBytes
import Logging
import NIOCore
import SyncEngine
import SyncModel
import WatermelonWire

// How operations reach the backend.
extension PushRunner {
    /// Says in the log whose request it speaks for.
    var backend: BackendClient {
        var backend = services.backend
        backend.logger = logger
        return backend
    }

    /// Sends all operations, or those of a batch, in one request.
    mutating func sendAll(
        base: CheckpointVector?, without: Set<Int>, batch: Range<Int>?, idempotencyKey: String
    ) async throws -> PushEvent {
        let (places, refused) = try sendable((batch ?? plan.operations.indices).filter { !without.contains($0) })
        guard refused.isEmpty else { return .refused(PushRefusal(kind: .rejected, records: refused)) }
        guard !places.isEmpty else { return .applied }
        let lines = OperationLines(
            operations: places.map { plan.operations[$0] }, reader: reader, base: base,
            completeNamespace: services.configuration.backend.completeType)
        if services.makesIDs { services.making.begin(identity.principal) }
        defer { if services.makesIDs { services.making.end(identity.principal) } }
        switch await attempt(lines, idempotencyKey: idempotencyKey) {
        case .success(.applied(let results)):
            services.identities.accepted(identity, at: services.clock.now)
            // The ids stand in this answer alone.
            try await learn(results, lines.operations)
            try await confirm()
            return .applied
        case .success(.refused(let lines)): return .refused(refusal(lines, places))
        case .failure(let error):
            // The key makes it harmless to send it again.
            if error.isTransient {
                if case .busy(_, let after) = error { retryAfter = after }
                logger.notice("the backend puts a push off", metadata: ["code": "\(error.code)", "error": "\(error)"])
                return .notNow(after: retryAfter?.milliseconds, isKnown: !error.isOutcomeUnknown)
            }
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
                lines, count: lines.operations.count, key: idempotencyKey, identity.forwarded)
            return .success(result)
        } catch {
            return .failure(error)
        }
    }

    func record(
        _ operation: PushOperation, _ message: String?, by call: Call? = nil, place: Int = 0
    ) -> PushRefusal.Record {
        PushRefusal.Record(
            table: reader.tableName(of: operation), id: operation.id, message: message, call: call?.title, place: place)
    }

    /// What a refused stream push is about; a conflict weighs more, since a new pull may resolve the rest.
    ///
    /// Lines are counted in `places`, which has the operations that were sent.
    private func refusal(_ lines: [StreamPushLine], _ places: [Int]) -> PushRefusal {
        let conflicts = lines.filter { $0.outcome == .conflict || $0.outcome == .missing }
        let shown = conflicts.isEmpty ? lines : conflicts
        return PushRefusal(
            kind: conflicts.isEmpty ? .rejected : .conflict,
            records: shown.map { line in
                let sentence = line.message.map { ": " + identity.forwarded.masked(in: ForeignText.escaped($0)) }
                return record(
                    plan.operations[places[line.line]], "outcome \(line.outcome.rawValue)" + (sentence ?? ""),
                    by: services.backend.settings.streamPush, place: places[line.line])
            })
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
        let cause = refusal.records.first.flatMap { record in
            record.message.map { message in record.call.map { "\($0): \(message)" } ?? message }
        }
        switch refusal.kind {
        case .conflict:
            return GatewayError(
                status: 409, code: refusal.kind.rawValue,
                message: "Somebody else has changed this in the meantime. Please sync again.", details: details,
                present: present, cause: cause, figures: figures)
        case .outdated:
            return GatewayError(
                status: 409, code: refusal.kind.rawValue,
                message: "This device has to get what is new before it can save. Please sync again.",
                figures: figures)
        case .rejected:
            return GatewayError(
                status: 422, code: refusal.code,
                message: applied > 0
                    ? "The server did not accept all of your changes." : "The server did not accept your changes.",
                details: details, cause: cause, figures: figures)
        }
    }
}
