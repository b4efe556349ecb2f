// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import JSONBytes
import SyncMachines
import SyncModel

/// The backend's answer to a call.
struct CallReply {
    let call: Call
    var outcome: CallOutcome
    /// The backend's explanation of a refusal.
    let sentence: String?

    /// The reason of a refusal, for operators.
    var message: String {
        let status = "status \(outcome.status)"
        let reason = outcome.failsConditions ? "\(status), and the answer meets no condition of 'when'" : status
        return reason + (sentence.map { ": \($0)" } ?? "")
    }
}

// The meaning of an answer by the protocol's push rules 2 to 4.
extension CallSender {
    mutating func report(_ reply: CallReply, at index: Int, _ content: OperationReader.Content) async throws
        -> CallReport
    {
        let outcome = reply.outcome
        switch (outcome.meaning, content.kind(plan.operations[index])) {
        case (.ok, _), (.missing, .delete): return CallReport(index: index, result: .applied)
        case (.exists, .create) where isNameless(outcome, at: index, content):
            return refused(
                at: index, .rejected,
                "status \(outcome.status): the record exists, under an id that the answer does not tell",
                by: reply.call, status: outcome.status)
        case (.exists, .create): return try await sendInstead(content.table.calls.update, at: index, content)
        case (.missing, .update): return try await sendInstead(content.table.calls.create, at: index, content)
        case (.conflict, _): return refused(at: index, .conflict, reply)
        case (.rejected, _), (.missing, .create), (.exists, _): return refused(at: index, .rejected, reply)
        }
    }

    /// Updates a record that exists already, or creates a missing one; only once, and not back again.
    private mutating func sendInstead(
        _ rule: Table.CallRule?, at index: Int, _ content: OperationReader.Content
    ) async throws -> CallReport {
        guard case .call(let call) = rule else {
            // An edit of a record that is gone must not be lost behind a 2xx (push rule 3).
            let isLost = rule == nil && plan.operations[index].kind == .update
            return isLost
                ? refused(at: index, .conflict, "the record is gone from the backend")
                : CallReport(index: index, result: .applied)
        }
        // The answer to the first call may have given the record's id.
        let content = try reader.content(of: plan.operations[index])
        return try await perform(call, at: index, content, isLast: true)
    }

    /// Returns true if a record exists whose backend id is unknown.
    private func isNameless(_ outcome: CallOutcome, at index: Int, _ content: OperationReader.Content) -> Bool {
        let operation = plan.operations[index]
        return content.table.makesIDs && outcome.returned == nil
            && reader.ids.backendID(of: PushReference(table: operation.table, id: operation.id)) == nil
    }

    /// Interprets a 409 to a creation if the configuration gives it no meaning (push rule 2).
    ///
    /// If clients make the ids, the record exists and is updated. If the backend makes them, the cause is something
    /// that no pull resolves, such as a value that has to be unique.
    func meant(
        _ outcome: CallOutcome, by call: Call, at index: Int, _ content: OperationReader.Content, isLast: Bool
    ) -> CallOutcome {
        guard outcome.status == 409, call.statuses[409] == nil, content.table.calls.create == .call(call) else {
            return outcome
        }
        if content.table.makesIDs { return CallOutcome(meaning: .rejected, status: outcome.status) }
        guard case .call = content.table.calls.update, !isLast, content.kind(plan.operations[index]) == .create else {
            return outcome
        }
        return CallOutcome(meaning: .exists, status: outcome.status)
    }

    func lastReport(_ reply: CallReply, _ index: Int) -> CallReport {
        switch reply.outcome.meaning {
        case .ok: CallReport(index: index, result: .applied)
        case .conflict: refused(at: index, .conflict, reply)
        // The backend reports the record both as missing and as existing: it most likely belongs to another user. A 2xx
        // would lose the user's edit.
        case .missing, .exists, .rejected: refused(at: index, .rejected, reply)
        }
    }

    /// Reports a refusal by the backend, with the backend's explanation if it has one.
    func refused(at index: Int, _ kind: PushRefusal.Kind, _ reply: CallReply) -> CallReport {
        refused(
            at: index, kind, reply.message, by: reply.call, status: reply.outcome.status)
    }

    func refused(
        at index: Int, _ kind: PushRefusal.Kind, _ message: String, by call: Call? = nil, status: Int? = nil,
        obstacle: PushRefusal.Obstacle? = nil
    ) -> CallReport {
        let operation = plan.operations[index]
        let record = PushRefusal.Record(
            table: reader.tableName(of: operation), id: operation.id, message: message, call: call?.title,
            status: status, index: index, obstacle: obstacle)
        return CallReport(index: index, result: .refused(PushRefusal(kind: kind, records: [record])))
    }

    /// Reports an operation for which no request can be made, so that it does not stop the others.
    func unsendable(
        _ error: BackendError, by call: Call, at index: Int, _ content: OperationReader.Content
    ) throws(BackendError) -> CallReport {
        switch error {
        case .invalidCall where isNowhere(plan.operations[index], content):
            return CallReport(index: index, result: .applied)
        case .invalidCall:
            let withheld = content.record?.withheld ?? []
            let reason =
                withheld.isEmpty
                ? "" : "; not sent, because the backend's values could not be read: \(withheld.joined(separator: ", "))"
            return refused(at: index, .rejected, error.description + reason, by: call, obstacle: .unsendable)
        case .unsafeValue: return refused(at: index, .rejected, error.description, by: call, obstacle: .unsafeID)
        default: throw error
        }
    }

    /// Returns true if a deletion has no address: the backend has given no id, and the client's id lacks the parts of
    /// one, so the backend has never had the record.
    func isNowhere(_ operation: PushOperation, _ content: OperationReader.Content) -> Bool {
        operation.kind == .delete && content.key.count < content.paths.count
            && reader.ids.backendID(of: PushReference(table: operation.table, id: operation.id)) == nil
    }

    /// Returns `{id}`, its parts, and the columns in the backend's form.
    ///
    /// A placeholder has its column's value even if the column has not changed.
    func values(
        _ operation: PushOperation, _ content: OperationReader.Content, for call: Call, isPart: Bool
    ) -> CallValues {
        var values = CallValues(
            columns: (isPart ? content.update : content.record).map { record in
                record.values.compactMap { column, value in column.outgoingPath.map { ($0, value) } }
            })
        // The backend makes an id of its own, and may store the client's id with it.
        let isNew = content.table.makesIDs && content.table.calls.create == .call(call)
        values.named["id"] = isNew ? .string(operation.id) : content.id
        for (index, part) in content.key.enumerated() {
            values.named["id.\(index + 1)"] = part.value
            // A deletion gets its columns from the parts of the id.
            if let column = content.table.columns.first(where: { $0.outgoingPath == part.path }) {
                values.named[column.name] = part.value
            }
        }
        for (column, value) in content.record?.values ?? [] { values.named[column.name] = value }
        if content.table.columns.contains(where: \.isVersion) {
            // A deletion has no version: the client sends the id only.
            values.named["base"] = content.table.conflicts == .backend ? content.record?.version ?? .null : .null
            values.seen = tag(content)
        }
        return values
    }

    /// Returns the tag of the version that an update's client had seen; nil for records that the client has created
    /// itself, which have no version yet.
    private func tag(_ content: OperationReader.Content) -> EntityTag? {
        guard content.treatment == .send(.update), content.table.conflicts == .backend else { return nil }
        switch content.record?.version {
        case .string(let text): return EntityTag(version: text)
        case .number(let number): return EntityTag(version: number.spelling)
        default: return nil
        }
    }
}
