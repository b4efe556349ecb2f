// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import JSONBytes
import SyncMachines
import SyncModel

/// What the backend has answered to a call.
struct CallReply {
    let call: Call
    var outcome: CallOutcome
    /// What it says where it refuses.
    let sentence: String?

    /// Why it refuses, for operators.
    var message: String {
        let status = "status \(outcome.status)"
        let reason = outcome.failsConditions ? "\(status), and the answer meets no condition of 'when'" : status
        return reason + (sentence.map { ": \($0)" } ?? "")
    }
}

// What an answer means by the protocol's push rules 2 to 4.
extension CallSender {
    mutating func report(_ reply: CallReply, at place: Int, _ content: OperationReader.Content) async throws
        -> CallReport
    {
        let outcome = reply.outcome
        switch (outcome.meaning, content.kind(plan.operations[place])) {
        case (.ok, _), (.missing, .delete): return CallReport(place: place, result: .applied)
        case (.exists, .create) where isNameless(outcome, at: place, content):
            return refused(
                at: place, .rejected,
                "status \(outcome.status): the record exists, under an id that the answer does not tell",
                by: reply.call, status: outcome.status)
        case (.exists, .create): return try await sendInstead(content.table.calls.update, at: place, content)
        case (.missing, .update): return try await sendInstead(content.table.calls.create, at: place, content)
        case (.conflict, _): return refused(at: place, .conflict, reply)
        case (.rejected, _), (.missing, .create), (.exists, _): return refused(at: place, .rejected, reply)
        }
    }

    /// Updates what exists already, or creates what is missing: once, and not back again.
    private mutating func sendInstead(
        _ rule: Table.CallRule?, at place: Int, _ content: OperationReader.Content
    ) async throws -> CallReport {
        guard case .call(let call) = rule else {
            // An edit of a record that is gone must not vanish with a 2xx (push rule 3).
            let isLost = rule == nil && plan.operations[place].kind == .update
            return isLost
                ? refused(at: place, .conflict, "the record is gone from the backend")
                : CallReport(place: place, result: .applied)
        }
        // What came of the first call may have taught what the record is called.
        let content = try reader.content(of: plan.operations[place])
        return try await perform(call, at: place, content, isLast: true)
    }

    /// Whether a record is there of which nobody knows what the backend calls it.
    private func isNameless(_ outcome: CallOutcome, at place: Int, _ content: OperationReader.Content) -> Bool {
        let operation = plan.operations[place]
        return content.table.makesIDs && outcome.returned == nil
            && reader.ids.backendID(of: PushReference(table: operation.table, id: operation.id)) == nil
    }

    /// What a 409 means that answers a creation and has no meaning of its own in the configuration (push rule 2).
    ///
    /// Where clients make the ids, the record is there: it is updated. Where the backend does, it is something that no
    /// pull resolves, such as a value that has to be unique.
    func meant(
        _ outcome: CallOutcome, by call: Call, at place: Int, _ content: OperationReader.Content, isLast: Bool
    ) -> CallOutcome {
        guard outcome.status == 409, call.statuses[409] == nil, content.table.calls.create == .call(call) else {
            return outcome
        }
        if content.table.makesIDs { return CallOutcome(meaning: .rejected, status: outcome.status) }
        guard case .call = content.table.calls.update, !isLast, content.kind(plan.operations[place]) == .create else {
            return outcome
        }
        return CallOutcome(meaning: .exists, status: outcome.status)
    }

    func lastReport(_ reply: CallReply, _ place: Int) -> CallReport {
        switch reply.outcome.meaning {
        case .ok: CallReport(place: place, result: .applied)
        case .conflict: refused(at: place, .conflict, reply)
        // Neither there nor not there: somebody else's, most likely. A 2xx would lose the user's edit.
        case .missing, .exists, .rejected: refused(at: place, .rejected, reply)
        }
    }

    /// A refusal by the backend, in its own words where it has any.
    func refused(at place: Int, _ kind: PushRefusal.Kind, _ reply: CallReply) -> CallReport {
        refused(
            at: place, kind, reply.message, by: reply.call, status: reply.outcome.status)
    }

    func refused(
        at place: Int, _ kind: PushRefusal.Kind, _ message: String, by call: Call? = nil, status: Int? = nil,
        obstacle: PushRefusal.Obstacle? = nil
    ) -> CallReport {
        let operation = plan.operations[place]
        let record = PushRefusal.Record(
            table: reader.tableName(of: operation), id: operation.id, message: message, call: call?.title,
            status: status, place: place, obstacle: obstacle)
        return CallReport(place: place, result: .refused(PushRefusal(kind: kind, records: [record])))
    }

    /// What becomes of an operation of which no request can be made: the others must not stop for it.
    func unsendable(
        _ error: BackendError, by call: Call, at place: Int, _ content: OperationReader.Content
    ) throws(BackendError) -> CallReport {
        switch error {
        case .invalidCall where isNowhere(plan.operations[place], content):
            return CallReport(place: place, result: .applied)
        case .invalidCall: return refused(at: place, .rejected, error.description, by: call, obstacle: .unsendable)
        case .unsafeValue: return refused(at: place, .rejected, error.description, by: call, obstacle: .unsafeID)
        default: throw error
        }
    }

    /// Whether a deletion has no address: the backend has given no id, and the client's has not the parts of one, so
    /// the backend has never had the record.
    func isNowhere(_ operation: PushOperation, _ content: OperationReader.Content) -> Bool {
        operation.kind == .delete && content.key.count < content.paths.count
            && reader.ids.backendID(of: PushReference(table: operation.table, id: operation.id)) == nil
    }

    /// `{id}`, its parts, and the columns as the backend wants to see them.
    ///
    /// A placeholder stands for its column whatever was changed.
    func values(
        _ operation: PushOperation, _ content: OperationReader.Content, for call: Call, isPart: Bool
    ) -> CallValues {
        var values = CallValues(
            columns: (isPart ? content.update : content.record).map { record in
                record.values.compactMap { column, value in column.outgoingPath.map { ($0, value) } }
            })
        // The backend is to make an id of its own, and may keep the client's beside it.
        let isNew = content.table.makesIDs && content.table.calls.create == .call(call)
        values.named["id"] = isNew ? .string(operation.id) : content.id
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
            values.seen = tag(content)
        }
        return values
    }

    /// What an update's client had seen of the record; what it has made itself has no version yet.
    private func tag(_ content: OperationReader.Content) -> EntityTag? {
        guard content.treatment == .send(.update), content.table.conflicts == .backend else { return nil }
        switch content.record?.version {
        case .string(let text): return EntityTag(version: text)
        case .number(let number): return EntityTag(version: number.spelling)
        default: return nil
        }
    }
}
