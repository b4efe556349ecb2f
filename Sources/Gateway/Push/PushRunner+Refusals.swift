// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import StateStore
import SyncEngine
import SyncModel

/// Why the operation at a place was refused.
struct RefusedPlace {
    /// The stable code.
    let code: String
    let record: PushRefusal.Record
}

// What the operator learns of refused operations.
extension PushRunner {
    /// Of how many operations of a push the log and the state tell.
    static let toldRefusals = 20

    /// Keeps why operations were refused, and tells of the first ones.
    mutating func note(_ event: PushEvent) {
        var found: [PushRefusal] = []
        switch event {
        case .refused(let refusal): found = [refusal]
        case .sent(let results):
            for case .refused(let refusal) in results.values { found.append(refusal) }
        default: break
        }
        let news = found.flatMap { refusal in
            refusal.records.map { RefusedPlace(code: $0.obstacle?.rawValue ?? refusal.kind.rawValue, record: $0) }
        }.sorted { $0.record.place < $1.record.place }
        for refused in news {
            // The backend may name a line with each request of a batch.
            let isKnown = refusals.updateValue(refused, forKey: refused.record.place) != nil
            if !isKnown, refusals.count <= Self.toldRefusals { tell(refused) }
        }
        tellObstacles(news.map(\.record))
    }

    private func tell(_ refused: RefusedPlace) {
        let record = refused.record
        var metadata: Logger.Metadata = [
            "code": "\(refused.code)", "table": "\(record.table)",
            "record": "\(ForeignText.escaped(ForeignText.cut(record.id)))",
            "operation": "\(plan.operations[record.place].kind.rawValue)", "principal": "\(identity.principal)",
        ]
        if let call = record.call { metadata["call"] = "\(call)" }
        if let status = record.status { metadata["backend_status"] = "\(status)" }
        if let message = record.message { metadata["reason"] = "\(message)" }
        logger.info("an operation of a push was refused", metadata: metadata)
    }

    private func tellObstacles(_ records: [PushRefusal.Record]) {
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

    /// Notes what was refused for `rind why` and `rind replicas`; where that fails the push ends as it would.
    func noteRefusals() async {
        guard !refusals.isEmpty, !isRetry else { return }
        if refusals.count > Self.toldRefusals {
            logger.info("more operations of a push were refused", metadata: ["operations": "\(refusals.count)"])
        }
        let told = refusals.values.sorted { $0.record.place < $1.record.place }
        let operations = told.prefix(Self.toldRefusals).map { refused in
            let (operation, record) = (plan.operations[refused.record.place], refused.record)
            return RefusedOperation(
                key: reader.key(of: operation), kind: SetAsidePush.Kind(operation.kind), call: record.call,
                reason: reason(at: record.place, code: refused.code))
        }
        let count = refusals.count == 1 ? "1 operation" : "\(refusals.count) operations"
        do {
            try await services.store.noteRefusals(
                operations, of: identity.principal, replica: pusher?.replica,
                result: "push refused: \(count), \(told.first?.code ?? "")", at: services.clock.now)
        } catch {
            logger.notWritten("could not record refused operations", error)
        }
    }
}

extension SetAsidePush.Kind {
    /// What an operation does.
    init(_ kind: PushOperation.Kind) {
        self =
            switch kind {
            case .create: .create
            case .update: .update
            case .delete: .delete
            }
    }
}
