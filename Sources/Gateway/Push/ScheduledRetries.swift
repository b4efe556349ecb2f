// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Applies the entries that the operator has marked with `rind quarantine retry`, with the credential of the
/// principal's present request: carries out what their machine decides.
///
/// Credentials are not stored, so there is no other time for it.
struct ScheduledRetries {
    private let services: SyncServices
    private let identity: CallerIdentity
    private let logger: Logger
    /// The marked entries, by their numbers.
    private var entries: [Int64: QuarantinedPush] = [:]
    /// The push of the last entry.
    private var runner: PushRunner?
    /// The reason why the last entry was not taken.
    private var reason = QuarantinedOperation.Reason(code: PushFailure.unexpectedEvent.rawValue)

    /// The reasons for a refusal of the gateway's own.
    private enum Code: String {
        case noTable = "push.no_table"
    }

    init(services: SyncServices, identity: CallerIdentity, logger: Logger) {
        self.services = services
        self.identity = identity
        self.logger = logger
    }

    /// Applies the retries, except those of records that the client is about to push itself.
    ///
    /// - Parameter changes: The client's changes; nil for a pull.
    /// - Precondition: No other push runs for the principal meanwhile.
    /// - Throws: Only errors that would end the caller's request as well.
    func apply(before changes: PushChanges?) async throws {
        let entries = try await services.store.read(identity.principal) {
            try QuarantineRules.scheduled(limit: RetryMachine.maximumEntries, of: &$0)
        }
        guard !entries.isEmpty else { return }
        var machine = RetryMachine(query: query(entries, before: changes))
        var retries = self
        for entry in entries { retries.entries[entry.id] = entry }
        try await drive(&machine, &retries)
    }

    /// Returns the retries as the machine needs to know them.
    private func query(_ entries: [QuarantinedPush], before changes: PushChanges?) -> RetryMachine.Query {
        let (schema, pushed) = (services.configuration.schema, Set(changes?.keys ?? []))
        return RetryMachine.Query(
            entries.map { entry in
                let key = entry.push.key
                return RetryMachine.Entry(
                    id: entry.id,
                    makesID: entry.push.kind == .create && schema.table(named: key.table)?.makesIDs == true,
                    isPushed: pushed.contains(key))
            },
            hasKeys: services.backend.settings.streamPush == nil
                && services.configuration.push.idempotencyHeader != nil)
    }

    /// Pushes the record of an entry.
    private mutating func attempt(_ entry: QuarantinedPush) async throws -> RetryMachine.Outcome {
        guard services.configuration.schema.table(named: entry.push.key.table) != nil else {
            reason = QuarantinedOperation.Reason(
                code: Code.noTable.rawValue, message: "the configuration has no such table")
            return .failed
        }
        var push = PushRunner(
            services: services, request: PushRequest(lastPulledAt: nil, changes: PushChanges(entry.push)),
            identity: identity, logger: logger, isRetry: true)
        defer { runner = push }
        _ = try await push.run()
        logger.notice("the backend has taken a quarantined record", metadata: facts(entry))
        return .taken
    }

    /// Returns the log metadata that identifies an entry.
    private func facts(_ entry: QuarantinedPush) -> Logger.Metadata {
        ["entry": "push-\(entry.id)", "table": "\(entry.push.key.table)"]
    }

    /// Counts an attempt whose outcome is unknown.
    private func countTry(_ entry: QuarantinedPush) async throws -> Int {
        let tries = try await services.store.change(identity.principal) {
            try QuarantineRules.countTry(of: entry.push.key, number: entry.id, at: services.clock.now, in: &$0)
        }
        logger.warning(
            "it is unknown whether the backend has taken a quarantined record",
            metadata: facts(entry).merging(["code": "\(reason.code)", "tries": "\(tries)"]) { $1 })
        return tries
    }

    private func quarantineAgain(_ entry: QuarantinedPush, isRefused: Bool) async throws {
        try await services.store.change(identity.principal) {
            try QuarantineRules.refuseAgain(
                entry.push.key, number: entry.id, reason: reason, at: services.clock.now, in: &$0)
        }
        guard isRefused else { return }
        logger.error(
            "the backend refuses a quarantined record again",
            metadata: facts(entry).merging(["code": "push.quarantined", "because": "\(reason.code)"]) { $1 })
    }
}

extension ScheduledRetries: Effects {
    func end(_ action: RetryMachine.Action, of machine: RetryMachine) async throws -> Void? {
        switch action {
        case .stop: return ()
        case .fail(let unexpected):
            logger.error(
                "a retry of quarantined records got an event that no action had asked for",
                metadata: [
                    "code": "\(PushFailure.unexpectedEvent.rawValue)", "state": "\(unexpected.state)",
                    "event": "\(unexpected.event)",
                ])
            throw PushFailure.unexpectedEvent
        case .verifyCredential, .readClock, .attempt, .lookUp, .countTry, .noteRefused, .quarantineAgain: return nil
        }
    }

    mutating func perform(
        _ action: RetryMachine.Action, of machine: RetryMachine
    ) async throws -> RetryMachine.Event {
        switch action {
        case .verifyCredential:
            // Stored records go only to a caller whom the backend accepts and who is still the same principal.
            try await services.identities.verifyNow(identity, at: services.clock.now)
        case .readClock:
            try Task.checkCancellation()
            return .clock(services.clock.now)
        case .attempt(let id): return .attempted(try await attempt(entry(id)))
        case .lookUp(let id):
            return .givenUp(
                try await services.store.look(identity.principal) {
                    try JournalRules.wasGivenUp(entry(id).push.key, of: &$0)
                })
        case .countTry(let id): return .tried(try await countTry(entry(id)))
        case .noteRefused: try await runner?.notes.writeRefused([0])
        case .quarantineAgain(let id, let isRefused): try await quarantineAgain(entry(id), isRefused: isRefused)
        case .stop, .fail: throw PushFailure.unexpectedEvent
        }
        return .done
    }

    /// Returns the event for an error: those of an attempt say what came of its entry.
    mutating func event(
        for error: any Error, of action: RetryMachine.Action, of machine: RetryMachine
    ) async throws -> RetryMachine.Event {
        guard case .attempt = action else { throw error }
        switch error {
        case is CancellationError: throw CancellationError()
        case is StateError: throw error
        case BackendError.credentialRefused(let status):
            return postponed(because: BackendError.credentialRefused(status: status).code)
        default: break
        }
        let code = GatewayError(error).code
        if code == PushFailure.busy.rawValue { return postponed(because: code) }
        reason = runner?.refusals.reason(at: 0, code: code) ?? QuarantinedOperation.Reason(code: code)
        if code == PushFailure.unknownOutcome.rawValue { return .attempted(.unknown) }
        // If the push failed otherwise, the backend may no longer have the record's earlier state.
        let refusals = [PushRefusal.Kind.rejected, .conflict].map(\.rawValue)
        let isRefused = refusals.contains(code) || PushRefusal.Obstacle(rawValue: code) != nil
        return .attempted(isRefused ? .refused : .failed)
    }

    private func postponed(because code: String) -> RetryMachine.Event {
        logger.notice("the retry of quarantined records is postponed", metadata: ["because": "\(code)"])
        return .attempted(.putOff)
    }

    private func entry(_ id: Int64) throws -> QuarantinedPush {
        guard let entry = entries[id] else { throw PushFailure.unexpectedEvent }
        return entry
    }
}

extension PushChanges {
    /// Creates the single change of an entry.
    init(_ push: QuarantinedOperation) {
        var table = PushedTable(name: push.key.table)
        let record = PushedRecord(id: push.key.id, range: 0..<push.body.count)
        switch push.kind {
        case .create: table.created = [record]
        case .update: table.updated = [record]
        case .delete: table.deleted = [push.key.id]
        }
        self.init(bytes: push.body, tables: [table])
    }
}

extension PushChanges {
    /// The keys of the records in the state.
    var keys: [PushedRecordKey] {
        tables.flatMap { table in
            (table.created.map(\.id) + table.updated.map(\.id) + table.deleted)
                .map { PushedRecordKey(table: table.name, id: $0) }
        }
    }
}
