// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel

// Repeating a request under its idempotency key (finding 20).
extension PushRecovery {
    /// The number of attempts, and the time in milliseconds, after which recovery gives up a request that the backend
    /// does not answer while it answers others: no device may be stuck for ever.
    static let (tries, patience) = (3, Int64(300_000))

    /// The meaning of an answer to a repetition.
    private enum Verdict {
        case event(PushRecoveryMachine.Event)
        /// No result yet: the request is still running, did not arrive, or may not have arrived.
        case later(BackendError)
    }

    /// Repeats the very same request with the caller's credential: the backend repeats its answer, or carries out the
    /// request if it has not done so.
    ///
    /// - Throws: An error that shows nothing about the creation; a later sync repeats the request.
    func repeatRequest(_ operationInFlight: InFlightOperation, _ journal: PushJournal) async throws
        -> PushRecoveryMachine.Event
    {
        guard let call = creation(operationInFlight.record.table), let request = operationInFlight.request,
            let header = services.configuration.push.idempotencyHeader
        else { return .unanswerable }
        let backend = services.backend(logging: logger)
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
            // A client that has hung up shows nothing about the backend.
            try Task.checkCancellation()
            logger.warning(
                "an interrupted push cannot be resolved yet",
                metadata: ["journal": "\(journal.id)", "code": "\(error.code)", "error": "\(error)"])
            guard try await mayGiveUp(operationInFlight, journal, after: error) else { throw error }
            try await services.store.giveUp(operationInFlight.index, of: journal.id)
            return .unanswerable
        }
    }

    /// Returns true if a request has failed for so long that the principal's other syncs take precedence.
    ///
    /// While the backend answers nothing at all, there is no need to give up: no sync would go on anyway.
    ///
    /// - Throws: The backend's refusal of the caller.
    private func mayGiveUp(
        _ operationInFlight: InFlightOperation, _ journal: PushJournal, after error: BackendError
    ) async throws -> Bool {
        // These failures are the gateway's own.
        if case .transport(let error) = error {
            switch error {
            case .cancelled, .shutDown, .system, .upload, .invalidRequest: return false
            default: break
            }
        }
        guard try await answersOthers() else { return false }
        return try await isPatienceOver(with: operationInFlight, journal)
    }

    /// Counts one more attempt, and returns true if there were enough attempts over a long enough time, or if recovery
    /// has given up the record before.
    func isPatienceOver(with operationInFlight: InFlightOperation, _ journal: PushJournal) async throws -> Bool {
        if try await services.store.wasGivenUp(operationInFlight.record, of: identity.principal) { return true }
        let now = services.clock.now
        let (tries, since) = try await services.store.countTry(of: journal.id, at: now)
        return tries >= Self.tries && now.milliseconds(since: since) >= Self.patience
    }

    /// Returns true if the backend answers another request.
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

    /// Returns the verdict of an answer that has a meaning in the call's configuration.
    private static func verdict(_ outcome: CallOutcome, of call: Call) -> Verdict {
        switch outcome.meaning {
        case .ok, .exists:
            let id = outcome.returned.flatMap { (1...RecordID.maximumLength).contains($0.utf8.count) ? $0 : nil }
            return .event(id.map { .created($0) } ?? .unanswerable)
        case .rejected: return .event(.refused)
        // The first request is still running (draft-ietf-httpapi-idempotency-key-header, section 2.6).
        case .conflict where outcome.status == 409 && call.statuses[409] == nil:
            return .later(.busy(status: 409, retryAfter: nil))
        case .conflict, .missing: return .event(.unanswerable)
        }
    }

    /// Returns the verdict of a status without a configured meaning, or of a missing answer.
    ///
    /// If the backend refuses the request now, it has refused it before, too; if it no longer knows the caller or the
    /// address, it has not looked at the request.
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
