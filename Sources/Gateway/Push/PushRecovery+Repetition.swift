// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel

// Making a request once more under its idempotency key (finding 20).
extension PushRecovery {
    /// How often, and for how long in milliseconds, a request is made again that the backend does not answer while it
    /// answers others: no device may stay stuck for ever.
    static let (tries, patience) = (3, Int64(300_000))

    /// What an answer to a repetition tells.
    private enum Verdict {
        case event(PushRecoveryMachine.Event)
        /// Nothing for now: the request still runs, was not heard, or nobody knows whether it was.
        case later(BackendError)
    }

    /// Makes the very same request once more, with the caller's credential: the backend answers as it did, or does now
    /// what it has not done.
    ///
    /// - Throws: What says nothing of the creation: it is asked for another time.
    func repeatRequest(_ operationInFlight: InFlightOperation, _ journal: PushJournal) async throws
        -> PushRecoveryMachine.Event
    {
        guard let call = creation(operationInFlight.record.table), let request = operationInFlight.request,
            let header = services.configuration.push.idempotencyHeader
        else { return .unanswerable }
        var backend = services.backend
        backend.logger = logger
        var verdict: Verdict
        do throws(BackendError) {
            let outcome = try await backend.call(
                call, CallRequest(method: request.method, target: request.target, body: request.body),
                as: identity.forwarded, key: (name: header, value: request.key))
            verdict = Self.verdict(outcome, of: call)
        } catch {
            verdict = Self.verdict(error)
        }
        switch verdict {
        case .event(let event): return event
        case .later(let error):
            // Whoever has hung up says nothing about the backend.
            try Task.checkCancellation()
            logger.warning(
                "an interrupted push cannot be resolved yet",
                metadata: ["journal": "\(journal.id)", "code": "\(error.code)", "error": "\(error)"])
            guard try await mayGiveUp(operationInFlight, journal, after: error) else { throw error }
            try await services.store.giveUp(operationInFlight.place, of: journal.id)
            return .unanswerable
        }
    }

    /// Whether a request has been in vain for long enough that the rest of its principal's syncs comes first.
    ///
    /// While the backend answers nothing at all there is no need for it: no sync would go on either.
    ///
    /// - Throws: What the backend says of the caller.
    private func mayGiveUp(
        _ operationInFlight: InFlightOperation, _ journal: PushJournal, after error: BackendError
    ) async throws -> Bool {
        // What the gateway has failed at itself.
        if case .transport(let error) = error {
            switch error {
            case .cancelled, .shutDown, .system, .upload, .invalidRequest: return false
            default: break
            }
        }
        guard try await answersOthers() else { return false }
        if try await services.store.wasGivenUp(operationInFlight.record, of: identity.principal) { return true }
        let now = services.clock.now
        let (tries, since) = try await services.store.countTry(of: journal.id, at: now)
        return tries >= Self.tries && now - since >= Self.patience
    }

    /// Whether the backend answers something else.
    private func answersOthers() async throws -> Bool {
        do {
            try await services.identities.ask(identity, at: services.clock.now)
            return true
        } catch let error as BackendError {
            try Task.checkCancellation()
            switch error {
            case .credentialRefused: throw error
            case .refused, .typesRefused: return true
            default: return false
            }
        }
    }

    /// What an answer says that the call's configuration gives a meaning.
    private static func verdict(_ outcome: CallOutcome, of call: Call) -> Verdict {
        switch outcome.meaning {
        case .ok, .exists:
            let id = outcome.returned.flatMap { (1...RecordID.maximumLength).contains($0.utf8.count) ? $0 : nil }
            return .event(id.map { .created($0) } ?? .unanswerable)
        case .rejected: return .event(.refused)
        // The first request still runs (draft-ietf-httpapi-idempotency-key-header, section 2.6).
        case .conflict where outcome.status == 409 && call.statuses[409] == nil:
            return .later(.busy(status: 409, retryAfter: nil))
        case .conflict, .missing: return .event(.unanswerable)
        }
    }

    /// What a status without a meaning says, or that there was no answer.
    ///
    /// A backend that will not take the request has not taken it before either; one that does not know the caller or
    /// the address any more has not looked at it.
    private static func verdict(_ error: BackendError) -> Verdict {
        switch error {
        case .refused(400), .refused(422): .event(.refused)
        case .refused(408), .refused(425), .credentialRefused(401): .later(error)
        case .transport, .busy, .failed: .later(error)
        case .refused, .ackRefused, .credentialRefused, .typesRefused, .unexpectedStatus, .contentType, .encoding,
            .answerTooLarge, .malformedAnswer, .invalidCall, .unsafeValue, .notConfigured:
            .event(.unanswerable)
        }
    }
}
