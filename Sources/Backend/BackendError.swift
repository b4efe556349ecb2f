// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Curl

/// Why the backend did not do what it was asked.
package enum BackendError: Error, Sendable {
    /// No answer, or no whole one.
    case transport(CurlError)
    /// 401: the credential is not accepted.
    case unauthorized
    /// 403: the credential may not do this.
    case forbidden
    /// 429 or 503: later, after so many seconds if the backend says so.
    case busy(status: Int, retryAfter: Int?)
    /// 400, 404, 422 and other answers that a repetition will not change; the body is cut, for the log at debug only.
    case refused(status: Int, body: String)
    /// 5xx.
    case failed(status: Int, body: String)
    /// An answer that is not what the protocol says, with what is wrong.
    case unexpectedAnswer(String)
    /// The backend's answer could not be decompressed, or is larger than allowed.
    case undecodable(String)
    /// The configuration has no such call.
    case notConfigured(String)

    /// The stable code for answers, log and metrics.
    package var code: String {
        switch self {
        case .transport(let error): error.code
        case .unauthorized: "backend.unauthorized"
        case .forbidden: "backend.forbidden"
        case .busy: "backend.busy"
        case .refused: "backend.refused"
        case .failed: "backend.failed"
        case .unexpectedAnswer: "backend.unexpected_answer"
        case .undecodable: "backend.undecodable"
        case .notConfigured: "backend.not_configured"
        }
    }

    /// Whether the same request may well succeed in a moment: the stream is then taken up again.
    package var isInterruption: Bool {
        switch self {
        case .transport(let error):
            switch error {
            case .resolve, .connect, .timeout, .closed, .protocolViolation: true
            case .invalidRequest, .tls, .headTooLarge, .bodyTooLarge, .upload, .cancelled, .shutDown, .system: false
            }
        case .busy(_, let retryAfter): (retryAfter ?? 0) <= 1
        case .failed: true
        case .unauthorized, .forbidden, .refused, .unexpectedAnswer, .undecodable, .notConfigured: false
        }
    }

    /// Whether the backend may have done what it was asked although no answer says so.
    package var leavesOutcomeUnknown: Bool {
        switch self {
        case .transport(let error): error.mayHaveReachedServer
        case .failed, .unexpectedAnswer, .undecodable: true
        case .unauthorized, .forbidden, .busy, .refused, .notConfigured: false
        }
    }
}

extension BackendError: CustomStringConvertible {
    /// A sentence for the log, without anything of a body.
    package var description: String {
        switch self {
        case .transport(let error): error.description
        case .unauthorized: "the backend does not accept the credential (401)"
        case .forbidden: "the backend forbids the request (403)"
        case .busy(let status, let after):
            "the backend is busy (\(status)\(after.map { ", retry after \($0) s" } ?? ""))"
        case .refused(let status, _): "the backend refuses the request (\(status))"
        case .failed(let status, _): "the backend failed (\(status))"
        case .unexpectedAnswer(let text): "the backend's answer is not what was expected: \(text)"
        case .undecodable(let text): "the backend's answer cannot be decompressed: \(text)"
        case .notConfigured(let name): "the configuration has no '\(name)' call"
        }
    }

    /// What the backend said, cut; for the log at debug only.
    package var body: String? {
        switch self {
        case .refused(_, let body), .failed(_, let body): body
        default: nil
        }
    }
}
