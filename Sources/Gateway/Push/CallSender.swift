// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import JSONBytes
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Reports the outcome of one operation of a push by calls.
struct CallReport: Sendable {
    let index: Int
    var result: CallResult
    /// The id that the backend has given.
    var mapping: IDMapping?
    /// The error with which the operation has failed.
    var error: (any Error)?
    /// The reason why the operation was put off or its outcome is unknown, for operators.
    var message: String?
    /// The error for which the operation was put off.
    var delay: BackendError?
}

/// Sends operations by the templates of their tables, one at a time; a push has several senders.
struct CallSender: Sendable {
    let plan: PushPlan
    /// Reads operations.
    ///
    /// It knows the backend's ids of records that were created before, and learns new ones.
    private(set) var reader: OperationReader
    let backend: BackendClient
    let forwarded: ForwardedCredentials
    let logger: Logger
    /// The header field for idempotency keys, and the prefix of this push's keys.
    let keyHeader: String?
    let keyPrefix: String
    /// Returns true if further calls may begin once one has had this result.
    let goesOn: @Sendable (CallResult) -> Bool
    let orphans: OrphanSearch
    let notes: NoteMaker?
    let journal: JournalWriter
    /// The indices of operations that were sent before and may have been applied then.
    let uncertain: Set<Int>

    /// Outcomes that are not in the journal yet: they are written with the next creation in flight, or at the end.
    private(set) var unwritten = JournalStep()

    /// Sends operations until none are left, or until one has a result that stops the others.
    ///
    /// - Returns: What has come of the operations that were begun; the push's machine decides what that means.
    mutating func run(_ queue: CallQueue) async -> [CallReport] {
        var reports: [CallReport] = []
        while let index = queue.next() {
            let report = await send(index)
            if !goesOn(report.result) { queue.stop() }
            reports.append(report)
        }
        guard !unwritten.isEmpty else { return reports }
        do {
            try await journal.write(unwritten)
        } catch {
            logger.notWritten("could not record ids that the backend assigned", error)
            for index in reports.indices where unwritten.applied.contains(reports[index].index) {
                reports[index].result = .unrecorded
            }
        }
        return reports
    }

    private mutating func send(_ index: Int) async -> CallReport {
        do {
            var report = try await attempt(index)
            if case .refused(let refusal) = report.result, refusal.kind == .rejected {
                report.result = .refused(refusal.marking(await orphans.orphans(among: [index])))
            }
            report = try finish(report)
            return report
        } catch {
            return CallReport(index: index, result: .failed, error: error)
        }
    }

    /// Adds the outcome of a creation that was in flight on its own to the unwritten step.
    private mutating func finish(_ report: CallReport) throws -> CallReport {
        guard let mapping = report.mapping, report.result == .applied else { return report }
        var report = report
        let operation = plan.operations[report.index]
        unwritten.applied.append(report.index)
        if mapping.clientID != mapping.backendID { unwritten.mappings.append(mapping) }
        if let note = notes?.held(operation) { unwritten.notes.append(note) }
        report.result = .recorded
        return report
    }

    /// Returns the rule for an operation's table and kind.
    ///
    /// If every create makes a new record, the create rule does not stand in for a missing update rule.
    static func rule(_ kind: OperationKind, _ table: Table) -> Table.CallRule? {
        switch kind {
        case .create: table.calls.create
        case .update: table.calls.update ?? (table.makesIDs ? nil : table.calls.create)
        case .delete: table.calls.remove
        }
    }

    private mutating func attempt(_ index: Int) async throws -> CallReport {
        let operation = plan.operations[index]
        let content = try reader.content(of: operation)
        switch content.treatment {
        case .refuse(let message, let obstacle): return refused(at: index, .rejected, message, obstacle: obstacle)
        case .nothing: return CallReport(index: index, result: .applied)
        case .send: break
        }
        let kind = content.kind(operation)
        switch Self.rule(kind, content.table) {
        case nil:
            let name = kind == .delete ? "remove" : kind.rawValue
            return refused(
                at: index, .rejected, "the configuration has no '\(name)' for this table, and no '[push] path'")
        case .some(.none): return CallReport(index: index, result: .applied)
        // The backend takes none of the changed columns.
        case .call
        where kind == .update && content.update?.values.isEmpty == true
            && content.record?.values.isEmpty == false:
            return CallReport(index: index, result: .applied)
        case .call(let call) where !call.mentions("id") && isNowhere(operation, content):
            return CallReport(index: index, result: .applied)
        case .call(let call):
            let isPart = kind == .update && content.table.calls.update != nil
            return try await perform(call, at: index, content, isPart: isPart)
        }
    }

    /// Makes one call and reports its outcome: applied, refused, put off or unknown.
    mutating func perform(
        _ call: Call, at index: Int, _ content: OperationReader.Content, isPart: Bool = false, isLast: Bool = false
    ) async throws -> CallReport {
        let operation = plan.operations[index]
        let isCreation = content.table.calls.create == .call(call)
        let request: CallRequest
        do throws(BackendError) {
            request = try CallRequest(
                call, values(operation, content, for: call, isPart: isPart), in: forwarded.scope)
        } catch {
            return try unsendable(error, by: call, at: index, content)
        }
        let key = isCreation ? keyHeader.map { (name: $0, value: "\(keyPrefix)-\(index)") } : nil
        if call.returns != nil { try await noteInFlight(at: index, content, request: request, key: key?.value) }
        let isRepeated = key != nil && uncertain.contains(index)
        try await LeaseKeeper.assure()
        let answer = await backend.answer(call, request, as: forwarded, key: key)
        func reply(_ outcome: CallOutcome) -> CallReply {
            CallReply(call: call, outcome: outcome, sentence: answer.sentence)
        }
        switch answer.result {
        // The first request is still running (draft-ietf-httpapi-idempotency-key-header, section 2.6).
        case .success(let outcome) where isRepeated && outcome.status == 409 && call.statuses[409] == nil:
            logger.notice("the backend is still at a creation that is sent again", metadata: ["status": "409"])
            return CallReport(index: index, result: .notNow(after: nil, isKnown: false))
        case .success(let answered):
            let outcome = meant(answered, by: call, at: index, content, isLast: isLast)
            let mapping = isCreation ? learn(outcome, of: operation, content) : nil
            var report =
                isLast ? lastReport(reply(outcome), index) : try await self.report(reply(outcome), at: index, content)
            if report.mapping == nil { report.mapping = mapping }
            return report
        // This refusal shows nothing about the first request, which may have created a record.
        case .failure(.refused(let status))
        where isRepeated && call.returns != nil && ![400, 408, 422, 425].contains(status),
            .failure(.credentialRefused(status: let status)) where isRepeated && call.returns != nil && status == 403:
            return unknown(at: index, reply(CallOutcome(meaning: .rejected, status: status)).message, by: call)
        case .failure(.refused(let status)) where status != 408 && status != 425:
            return refused(at: index, .rejected, reply(CallOutcome(meaning: .rejected, status: status)))
        case .failure(.credentialRefused(status: 403)):
            // The backend has accepted this caller before, so the 403 is about this record.
            return refused(at: index, .rejected, reply(CallOutcome(meaning: .rejected, status: 403)))
        case .failure(let error):
            return try failed(
                error, sentence: answer.sentence, at: index, by: call, isRepeatable: key != nil || isRepeatable(call))
        }
    }

    /// Learns the backend's id of a record that the backend has created or already had.
    private mutating func learn(
        _ outcome: CallOutcome, of operation: PushOperation, _ content: OperationReader.Content
    ) -> IDMapping? {
        guard content.table.hasOwnIDs, outcome.meaning == .ok || outcome.meaning == .exists else { return nil }
        do {
            let mapping = try content.mapping(outcome.returned, operation)
            if let mapping { reader.ids.learn(mapping) }
            return mapping
        } catch {
            logger.error(
                "a record is created under an id that cannot be kept",
                metadata: ["code": "push.unkept_id", "records": "1", "error": "\(error)"])
            return nil
        }
    }

    private func failed(
        _ error: BackendError, sentence: String?, at index: Int, by call: Call, isRepeatable: Bool
    ) throws -> CallReport {
        let message = error.description + (sentence.map { ": \($0)" } ?? "")
        // An operation that may have been applied is put off only if repeating it is harmless.
        if error.isTransient, !error.isDown, !error.isOutcomeUnknown || isRepeatable {
            var metadata = facts(index, call)
            metadata["code"] = "\(error.code)"
            metadata["error"] = "\(message)"
            logger.notice("the backend puts a push off", metadata: metadata)
            return CallReport(
                index: index, result: .notNow(after: error.retryAfter?.milliseconds, isKnown: !error.isOutcomeUnknown),
                message: message, delay: error)
        }
        guard error.isOutcomeUnknown else { throw error }
        return unknown(at: index, message, by: call, code: error.code)
    }

    /// Reports an operation whose outcome is unknown.
    private func unknown(
        at index: Int, _ message: String, by call: Call, code: String = PushFailure.unknownOutcome.rawValue
    ) -> CallReport {
        var metadata = facts(index, call)
        metadata["code"] = "\(code)"
        metadata["error"] = "\(message)"
        logger.warning("an operation's outcome is unknown", metadata: metadata)
        return CallReport(index: index, result: .unknown, message: message)
    }

    /// Returns the log metadata that identifies an operation.
    private func facts(_ index: Int, _ call: Call) -> Logger.Metadata {
        let operation = plan.operations[index]
        return [
            "table": "\(reader.tableName(of: operation))", "operation": "\(operation.kind.rawValue)",
            "record": "\(ForeignText.escaped(ForeignText.cut(operation.id)))", "call": "\(call.title)",
        ]
    }

    /// Returns true if a call may be repeated although it may have been carried out: setting values by id and deleting
    /// by id are idempotent, and so is a create if the backend answers that the record exists.
    private func isRepeatable(_ call: Call) -> Bool { call.method != "POST" || call.statuses.values.contains(.exists) }

    /// Notes a creation as in flight before it is sent if its record gets an id from the backend, and writes the
    /// outcomes of earlier creations.
    private mutating func noteInFlight(
        at index: Int, _ content: OperationReader.Content, request: CallRequest, key: String?
    ) async throws {
        let operation = plan.operations[index]
        var operationInFlight = InFlightOperation(
            index: index, kind: .create, record: reader.key(of: operation), makesID: true,
            sought: sought(content)?.serialised)
        if let key {
            operationInFlight.request = InFlightOperation.Request(
                method: request.method, target: request.target, body: request.body, key: key)
        }
        var step = unwritten
        step.inFlight.append(operationInFlight)
        try await journal.write(step)
        unwritten = JournalStep()
    }

    /// Returns the values by which the record is searched for in the stream (`match`).
    private func sought(_ content: OperationReader.Content) -> JSONValue? {
        guard !content.table.match.isEmpty else { return nil }
        return .object(
            content.table.match.compactMap { name in
                content.record?.value(of: name).map { JSONValue.Member(name, $0) }
            })
    }
}
