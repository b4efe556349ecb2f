// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import StateStore
import SyncMachines
import SyncModel

/// Collects why operations of a push were refused, for the log, the state and the quarantine.
struct PushRefusals {
    /// The number of refused operations that are logged and stored for each push.
    static let maximumLogged = 20

    private struct Refusal {
        /// The stable code.
        let code: String
        let record: PushRefusal.Record
    }

    /// Refusals by the index of their operation.
    private var refusals: [Int: Refusal] = [:]

    var isEmpty: Bool { refusals.isEmpty }

    /// Stores why operations were refused, and logs the first ones.
    mutating func take(_ event: PushEvent, of scope: PushScope) {
        var found: [PushRefusal] = []
        switch event {
        case .refused(let refusal): found = [refusal]
        case .sent(let results):
            for case .refused(let refusal) in results.values { found.append(refusal) }
        default: break
        }
        let news = found.flatMap { refusal in
            refusal.records.map { Refusal(code: $0.code ?? refusal.kind.rawValue, record: $0) }
        }.sorted { $0.record.index < $1.record.index }
        for refused in news {
            // The backend may name the same line in every request of a batch.
            let isKnown = refusals.updateValue(refused, forKey: refused.record.index) != nil
            if !isKnown, refusals.count <= Self.maximumLogged { log(refused, of: scope) }
        }
        logObstacles(news.map(\.record), scope.logger)
    }

    /// Returns why an operation was refused, with the refusal's code or the given one.
    func reason(at index: Int, code: String? = nil) -> QuarantinedOperation.Reason {
        let refusal = refusals[index]
        return QuarantinedOperation.Reason(
            code: code ?? refusal?.code ?? PushRefusal.Kind.rejected.rawValue, status: refusal?.record.status,
            message: refusal?.record.message)
    }

    /// Stores the refusals for `rind why` and `rind replicas`.
    ///
    /// A failure is only logged and does not change how the push ends.
    func write(of scope: PushScope, from replica: ReplicaID?) async {
        guard !refusals.isEmpty, !scope.isRetry else { return }
        if refusals.count > Self.maximumLogged {
            scope.logger.info("more operations of a push were refused", metadata: ["operations": "\(refusals.count)"])
        }
        let logged = refusals.values.sorted { $0.record.index < $1.record.index }
        let operations = logged.prefix(Self.maximumLogged).map { refused in
            let index = refused.record.index
            return RefusedOperation(
                key: key(at: index, scope), kind: scope.plan.operations[index].kind,
                call: refused.record.call, reason: reason(at: index))
        }
        let count = refusals.count == 1 ? "1 operation" : "\(refusals.count) operations"
        do {
            try await scope.change {
                try RefusalRules.note(
                    operations, replica: replica, result: "push refused: \(count), \(logged.first?.code ?? "")",
                    at: scope.now, in: &$0)
            }
        } catch {
            scope.logger.notWritten("could not record refused operations", error)
        }
    }

    /// Returns the key of an operation's record; an id that is too long for any record is cut.
    private func key(at index: Int, _ scope: PushScope) -> PushedRecordKey {
        let key = scope.key(at: index)
        return RecordID.fits(key.id) ? key : PushedRecordKey(table: key.table, id: ForeignText.cut(key.id))
    }

    private func log(_ refused: Refusal, of scope: PushScope) {
        let record = refused.record
        var metadata: Logger.Metadata = [
            "code": "\(refused.code)", "table": "\(record.table)",
            "record": "\(ForeignText.escaped(ForeignText.cut(record.id)))",
            "operation": "\(scope.plan.operations[record.index].kind.rawValue)", "principal": "\(scope.principal)",
        ]
        if let call = record.call { metadata["call"] = "\(call)" }
        if let status = record.status { metadata["backend_status"] = "\(status)" }
        if let message = record.message { metadata["reason"] = "\(message)" }
        scope.logger.info("an operation of a push was refused", metadata: metadata)
    }

    private func logObstacles(_ records: [PushRefusal.Record], _ logger: Logger) {
        for (obstacle, records) in Dictionary(grouping: records, by: \.obstacle) {
            guard let obstacle else { continue }
            logger.warning(
                "operations cannot be sent to the backend and count as refused",
                metadata: [
                    "code": "\(obstacle.rawValue)", "records": "\(records.count)",
                    "tables": "\(Set(records.map(\.table)).sorted().joined(separator: " "))",
                    "error": "\(records.first?.message ?? "")",
                ])
        }
    }
}
