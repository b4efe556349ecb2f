// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import Curl
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Finds out what became of the creations of one interrupted push: carries out what its machine decides (finding 20).
struct PushRecoveryRunner {
    let services: SyncServices
    let identity: CallerIdentity
    let logger: Logger
    let journal: PushJournal
    /// The creations with an unknown outcome, by index.
    let inFlight: [Int: InFlightOperation]
    /// The error that the last repeated request ends the recovery with, if nothing else can be done about it.
    private var unanswered: BackendError?
    /// The request types that the backend has refused during the last search.
    var refusedTypes: Set<String> = []

    init(
        services: SyncServices, identity: CallerIdentity, logger: Logger, journal: PushJournal,
        inFlight: [Int: InFlightOperation]
    ) {
        self.services = services
        self.identity = identity
        self.logger = logger
        self.journal = journal
        self.inFlight = inFlight
    }

    /// Returns the interrupted push as the machine needs to know it; `push` is the caller's own push.
    func query(_ push: PushRequest?) -> PushRecoveryMachine.Query {
        let settings = services.configuration.push
        let creations = inFlight.values.sorted { $0.index < $1.index }.map { operation in
            let call = creation(operation.record.table)
            return PushRecoveryMachine.Creation(
                index: operation.index, table: operation.record.table, id: operation.record.id,
                hasRequest: call != nil && operation.request != nil && settings.idempotencyHeader != nil,
                canSearch: call != nil && (call?.reference != nil || sought(operation) != nil))
        }
        return PushRecoveryMachine.Query(
            creations, interrupted: journal.presented,
            age: services.clock.now.milliseconds(since: journal.startedAt),
            keyLife: settings.idempotencyLife.milliseconds,
            push: push.map { PushRecoveryMachine.Push(time: $0.lastPulledAt, tables: $0.changes.tables) })
    }

    /// Returns the call that creates records of a table, by the present configuration.
    func creation(_ table: String) -> Call? {
        guard case .call(let call) = services.configuration.schema.table(named: table)?.calls.create,
            call.returns != nil
        else { return nil }
        return call
    }

    /// Repeats the very same request with the caller's credential: the backend repeats its answer, or carries out the
    /// request if it has not done so.
    private mutating func repeatRequest(_ index: Int) async throws -> PushRecoveryAnswer {
        guard let operation = inFlight[index], let call = creation(operation.record.table),
            let request = operation.request, let header = services.configuration.push.idempotencyHeader
        else { return .other }
        let backend = services.backend(logging: logger)
        try await LeaseKeeper.assure()
        let outcome = try await backend.call(
            call, CallRequest(method: request.method, target: request.target, body: request.body),
            as: identity.forwarded, key: (name: header, value: request.key))
        unanswered = .busy(status: outcome.status, retryAfter: nil)
        return .meant(
            outcome.meaning, id: outcome.returned, status: outcome.status,
            isConfigured: call.statuses[outcome.status] != nil)
    }

    /// Counts one more attempt, unless recovery has given up the record before.
    private func countTry(_ index: Int) async throws -> PushRecoveryEvent {
        if let record = inFlight[index]?.record {
            let wasGivenUp = try await services.store.look(identity.principal) {
                try JournalRules.wasGivenUp(record, of: &$0)
            }
            if wasGivenUp { return .givenUpBefore }
        }
        let now = services.clock.now
        let (tries, since) = try await services.store.change(identity.principal) {
            try JournalRules.countTry(of: journal.id, at: now, in: &$0)
        }
        return .tried(tries, over: now.milliseconds(since: since))
    }
}

extension PushRecoveryRunner: Effects {
    func end(
        _ action: PushRecoveryAction, of machine: PushRecoveryMachine
    ) async throws -> (found: [Int: String], lost: [Int])? {
        switch action {
        case .repeatRequest, .askBackend, .search:
            // A client that has hung up shows nothing about the backend.
            try Task.checkCancellation()
            return nil
        case .countTry, .giveUp: return nil
        case .close(let found, let lost):
            try Task.checkCancellation()
            return (found, lost)
        case .fail(let failure): throw try error(failure)
        }
    }

    mutating func perform(
        _ action: PushRecoveryAction, of machine: PushRecoveryMachine
    ) async throws -> PushRecoveryEvent {
        switch action {
        case .repeatRequest(let index): return .answered(try await repeatRequest(index))
        case .askBackend:
            logUnresolved()
            try await services.identities.ask(identity, at: services.clock.now)
            return .backendAnswers(true)
        case .countTry(let index): return try await countTry(index)
        case .giveUp(let indices):
            for index in indices {
                try await services.store.change(identity.principal) {
                    try JournalRules.giveUp(index, of: journal.id, in: &$0)
                }
            }
            return .done
        case .search(let indices, let fromCursor):
            return try await search(indices, from: fromCursor ? journal.presented : nil)
        case .close, .fail: throw PushFailure.unexpectedEvent
        }
    }

    /// Returns the event for an error.
    mutating func event(
        for error: any Error, of action: PushRecoveryAction, of machine: PushRecoveryMachine
    ) async throws -> PushRecoveryEvent {
        switch (action, error) {
        case (.repeatRequest, let error as BackendError):
            unanswered = error
            return .answered(PushRecoveryAnswer(error))
        case (.askBackend, let error as BackendError):
            try Task.checkCancellation()
            switch error {
            case .credentialRefused: throw error
            case .refused, .typesRefused: return .backendAnswers(true)
            default: return .backendAnswers(false)
            }
        default: throw error
        }
    }

    /// Returns the error that keeps the journal open.
    private func error(_ failure: PushRecoveryFailure) throws -> any Error {
        switch failure {
        case .failedHere:
            try Task.checkCancellation()
            logUnresolved()
            return unanswered ?? PushFailure.unknownOutcome
        case .unanswered: return unanswered ?? PushFailure.unknownOutcome
        case .typesRefused:
            logger.warning(
                "an interrupted push cannot be resolved yet: the backend refuses a request type",
                metadata: [
                    "journal": "\(journal.id)", "code": "\(PullFailure.typesRefused.rawValue)",
                    "types": "\(refusedTypes.sorted().joined(separator: " "))",
                ])
            return PullFailure.typesRefused
        case .streamBroken: return PullFailure.streamBroken
        case .unexpected(let unexpected):
            logger.error(
                "push recovery got an event that no action had asked for",
                metadata: [
                    "code": "\(PushFailure.unexpectedEvent.rawValue)", "state": "\(unexpected.state)",
                    "event": "\(unexpected.event)", "journal": "\(journal.id)",
                ])
            return PushFailure.unexpectedEvent
        }
    }

    private func logUnresolved() {
        logger.warning(
            "an interrupted push cannot be resolved yet",
            metadata: [
                "journal": "\(journal.id)", "code": "\(unanswered?.code ?? "")",
                "error": "\(unanswered.map { "\($0)" } ?? "")",
            ])
    }
}

extension PushRecoveryAnswer {
    /// Creates the answer of a request that ended with an error.
    fileprivate init(_ error: BackendError) {
        self =
            switch error {
            case .refused(let status), .credentialRefused(let status): .refused(status: status)
            case .transport(.cancelled), .transport(.shutDown), .transport(.system), .transport(.upload),
                .transport(.invalidRequest), .circuitOpen:
                .failedHere
            case .transport, .busy, .failed: .failed
            case .ackRefused, .typesRefused, .unexpectedStatus, .contentType, .encoding, .answerTooLarge,
                .malformedAnswer, .resultsMissing, .invalidCall, .unsafeValue, .notConfigured:
                .other
            }
    }
}
