// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
package import Logging
import NIOConcurrencyHelpers
package import SyncModel

/// Shares a ``CircuitBreaker`` between all calls to one backend, and logs each change of its state.
package final class BackendBreaker: Sendable {
    /// The state and figures for operators.
    package struct Reading: Sendable {
        /// The state.
        package let state: CircuitBreaker.State
        /// The number of times that it has opened.
        package let openings: Int
        /// The number of calls that it has refused.
        package let refusals: Int
        /// The time of the backend's last answer; nil if there was none.
        package let answeredAt: Instant?
        /// The time and code of the last call without an answer; nil if there was none.
        package let failure: (at: Instant, code: String)?
    }

    private struct Content {
        var breaker: CircuitBreaker
        var answeredAt: Instant?
        var failure: (at: Instant, code: String)?
    }

    private let content: NIOLockedValueBox<Content>
    private let clock: any WallClock
    private let logger: Logger

    /// Creates a breaker that is closed.
    package init(_ settings: CircuitBreaker.Settings, clock: any WallClock, logger: Logger) {
        content = NIOLockedValueBox(Content(breaker: CircuitBreaker(settings)))
        self.clock = clock
        self.logger = logger
    }

    /// Takes the settings of another configuration, and closes.
    package func configure(_ settings: CircuitBreaker.Settings) {
        content.withLockedValue { $0.breaker.configure(settings) }
    }

    /// The state and figures.
    package var reading: Reading {
        content.withLockedValue {
            Reading(
                state: $0.breaker.state, openings: $0.breaker.openings, refusals: $0.breaker.refusals,
                answeredAt: $0.answeredAt, failure: $0.failure)
        }
    }

    /// Throws ``BackendError/circuitOpen(retryAfter:)`` if no call may be made now, and counts that.
    package func check() throws(BackendError) {
        guard let refusal = content.withLockedValue({ $0.breaker.refuse(at: clock.now) }) else { return }
        throw .circuitOpen(retryAfter: .milliseconds(refusal.retryAfter))
    }

    /// Asks for a call, whose end must be told to the ticket.
    func begin(for credentials: ForwardedCredentials) throws(BackendError) -> Ticket {
        let now = clock.now
        do throws(CircuitBreaker.Refusal) {
            let permit = try change { content throws(CircuitBreaker.Refusal) in try content.breaker.admit(at: now) }
            return Ticket(breaker: self, permit: permit, caller: credentials.callerNumber)
        } catch {
            throw .circuitOpen(retryAfter: .milliseconds(error.retryAfter))
        }
    }

    fileprivate func end(_ permit: CircuitBreaker.Permit, _ outcome: CircuitBreaker.Outcome, code: String) {
        let now = clock.now
        change { content in
            switch outcome {
            case .answered, .failed: content.answeredAt = now
            case .unanswered, .unreachable: content.failure = (now, code)
            case .undecided: break
            }
            content.breaker.end(permit, outcome, at: now)
        }
    }

    /// Changes the breaker, and logs if it has another state then.
    private func change<R, Failure: Error>(_ body: (inout Content) throws(Failure) -> R) throws(Failure) -> R {
        let (result, before, after) = content.withLockedValue { content in
            let before = content.breaker.state
            let result = Result { () throws(Failure) in try body(&content) }
            return (result, before, content)
        }
        if before != after.breaker.state { log(after) }
        return try result.get()
    }

    private func log(_ content: Content) {
        switch content.breaker.state {
        case .open:
            logger.warning(
                "the backend does not answer: syncs are refused for a while",
                metadata: [
                    "code": "backend.circuit_open", "cause": "\(content.failure?.code ?? "")",
                    "seconds": "\(content.breaker.settings.openTime / 1_000)",
                ])
        case .halfOpen: logger.info("the backend is tried again")
        case .closed: logger.notice("the backend answers again", metadata: ["code": "backend.circuit_closed"])
        }
    }

    /// Stands for one call that was permitted.
    final class Ticket: Sendable {
        private let breaker: BackendBreaker
        private let permit: CircuitBreaker.Permit
        private let caller: Int
        private let hasEnded = NIOLockedValueBox(false)

        init(breaker: BackendBreaker, permit: CircuitBreaker.Permit, caller: Int) {
            self.breaker = breaker
            self.permit = permit
            self.caller = caller
        }

        /// Takes the status of the answer.
        func end(status: Int) {
            switch status {
            case 502, 503, 504: end(.unanswered(caller: caller), code: "status \(status)")
            case 500...: end(.failed, code: "")
            default: end(.answered, code: "")
            }
        }

        /// Takes the reason why there is no answer.
        func end(_ error: CurlError) { end(error.outcome(for: caller), code: error.code) }

        /// Takes an end that says nothing about the backend.
        func abandon() { end(.undecided, code: "") }

        /// Takes the first end only: an answer that breaks later has come all the same.
        private func end(_ outcome: CircuitBreaker.Outcome, code: String) {
            let isFirst = hasEnded.withLockedValue { hasEnded in
                defer { hasEnded = true }
                return !hasEnded
            }
            if isFirst { breaker.end(permit, outcome, code: code) }
        }
    }
}

extension CurlError {
    /// Returns the meaning of a call without an answer.
    fileprivate func outcome(for caller: Int) -> CircuitBreaker.Outcome {
        switch self {
        case .resolve, .connect, .tls: .unreachable
        // The wait for one of the gateway's own connections counts in the first deadline.
        case .timeout, .closed, .protocolViolation: .unanswered(caller: caller)
        case .headTooLarge, .bodyTooLarge: .answered
        case .invalidRequest, .upload, .cancelled, .shutDown, .system: .undecided
        }
    }
}
