// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl

/// A reason why the backend did not do what it was asked for.
package enum BackendError: Error, Sendable {
    /// No answer came, or not all of it.
    case transport(CurlError)
    /// The backend does not accept the caller's credential (401, 403).
    case credentialRefused(status: Int)
    /// The backend refused the stream request, and its answer names these types: maybe those that it does know.
    case typesRefused([String])
    /// The backend asks for a pause (429, 503).
    case busy(status: Int, retryAfter: Duration?)
    /// The backend was not called, since it has not answered for a while (``CircuitBreaker``).
    case circuitOpen(retryAfter: Duration)
    /// The backend refused the request (every other 4xx).
    case refused(status: Int)
    /// The backend has no call at the configured target for setting checkpoints (404, 405, 501).
    ///
    /// That is a mistake in the configuration. A token that the backend refuses is ``refused(status:)``.
    case ackRefused(status: Int)
    /// The backend failed (every other 5xx).
    case failed(status: Int)
    /// The status does not fit the request: redirections are not followed.
    case unexpectedStatus(Int)
    /// The stream's type cannot be lines of JSON, such as that of a login page.
    case contentType(String)
    /// The answer's encoding is unknown or broken.
    case encoding(String)
    /// The answer has more bytes than the limit.
    case answerTooLarge(limit: Int)
    /// The answer is not as agreed.
    case malformedAnswer(String)
    /// The backend says that it has applied a push, and has no result for so many lines, which it may not have read.
    case resultsMissing(Int, of: Int)
    /// The call cannot be made with these values; nothing was sent.
    case invalidCall(String)
    /// The value for this placeholder would make the call reach another address, or one that servers read differently;
    /// nothing was sent.
    case unsafeValue(String)
    /// The configuration has no such call.
    case notConfigured(String)

    /// The time after which the backend wants to be called again; nil if it has not said.
    package var retryAfter: Duration? {
        switch self {
        case .busy(_, let time): time
        case .circuitOpen(let time): time
        default: nil
        }
    }

    /// A stable name for metrics, logs and answers.
    package var code: String {
        switch self {
        case .transport(let error): error.code
        case .credentialRefused: "backend.credential"
        case .typesRefused: "backend.types"
        case .busy: "backend.busy"
        case .circuitOpen: "backend.circuit_open"
        case .refused: "backend.refused"
        case .ackRefused: "backend.ack_refused"
        case .failed: "backend.failed"
        case .unexpectedStatus: "backend.status"
        case .contentType: "backend.content_type"
        case .encoding: "backend.encoding"
        case .answerTooLarge: "backend.answer_too_large"
        case .malformedAnswer: "backend.answer"
        case .resultsMissing: "backend.results_missing"
        case .invalidCall, .unsafeValue: "backend.call"
        case .notConfigured: "backend.not_configured"
        }
    }

    /// True if a call that changes something may have done so despite the error.
    ///
    /// The outcome is then unknown: find it out, or send the call again with the same idempotency key.
    package var isOutcomeUnknown: Bool {
        switch self {
        case .transport(let error): error.mayHaveReachedServer
        // A proxy may answer with these while the backend behind it carries on.
        case .busy(let status, _): status >= 500
        case .refused(let status): status == 408
        case .failed, .unexpectedStatus, .contentType, .encoding, .answerTooLarge, .malformedAnswer, .resultsMissing:
            true
        case .credentialRefused, .typesRefused, .circuitOpen, .ackRefused, .invalidCall, .unsafeValue, .notConfigured:
            false
        }
    }

    /// True if nothing listens where the backend should be: it is down, and waiting a second does not help.
    package var isDown: Bool { if case .transport(.connect) = self { true } else { false } }

    /// True if the same request may succeed a little later, so that a new attempt is worthwhile.
    package var isTransient: Bool {
        switch self {
        case .transport(let error):
            switch error {
            case .resolve, .connect, .timeout, .closed: true
            default: false
            }
        case .busy, .failed, .circuitOpen: true
        case .refused(let status): status == 408 || status == 425
        default: false
        }
    }
}

extension BackendError: CustomStringConvertible {
    /// A sentence for the log, with nothing from the answer's body.
    package var description: String {
        switch self {
        case .transport(let error): error.description
        case .credentialRefused(let status): "the backend does not accept the credential (\(status))"
        case .typesRefused(let types):
            "the backend refuses the request types; it names \(types.joined(separator: ", "))"
        case .busy(let status, let after):
            "the backend is busy (\(status))" + (after.map { ", try again after \($0)" } ?? "")
        case .circuitOpen(let after): "the backend has not answered for a while; it is called again in \(after)"
        case .refused(let status): "the backend refuses the request (\(status))"
        case .ackRefused(let status): "the backend has no call where '[backend] ack' says (\(status))"
        case .failed(let status): "the backend failed (\(status))"
        case .unexpectedStatus(let status): "the backend answered with the status \(status)"
        case .contentType(let type): "the backend's stream is of the type \(type)"
        case .encoding(let text): "the encoding of the backend's answer is wrong: \(text)"
        case .answerTooLarge(let limit): "the backend's answer has more than \(limit) bytes"
        case .malformedAnswer(let text): "the backend's answer is not what was agreed on: \(text)"
        case .resultsMissing(let missing, let count):
            "the backend has applied a push, with no result for \(missing) of its \(count) lines: were they read?"
        case .invalidCall(let text): "the backend cannot be called: \(text)"
        case .unsafeValue(let name): "the backend cannot be called: the value for {\(name)} is unsafe in a path"
        case .notConfigured(let name): "the configuration has no call '\(name)'"
        }
    }
}
