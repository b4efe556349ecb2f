// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A reason why an exchange with the backend failed.
///
/// The sentences in the cases are libcurl's, for the log at debug; they never go to a client.
package enum CurlError: Error, Sendable {
    /// Names the deadline that has passed.
    package enum Deadline: String, CaseIterable, Sendable {
        /// There was no connection; its TLS handshake and the wait for a free one count.
        case connect
        /// The request was sent, and no byte of an answer came.
        case firstByte = "first_byte"
        /// No byte moved in either direction, although this side was ready.
        case idle
        /// The whole exchange took too long.
        case total
    }

    /// The request itself must not be sent, a mistake of the caller; nothing was sent.
    case invalidRequest(String)
    /// The host's name has no address.
    case resolve(String)
    /// No connection could be made.
    case connect(String)
    /// The TLS handshake failed, or the certificate is not trusted.
    case tls(String)
    /// A deadline has passed.
    case timeout(Deadline)
    /// The connection ended before the answer was complete.
    case closed(String)
    /// The answer is not valid HTTP.
    case protocolViolation(String)
    /// The answer's head has more bytes than allowed.
    case headTooLarge(limit: Int)
    /// The answer's body has more bytes than its reader accepts.
    case bodyTooLarge(limit: Int)
    /// The source of the request's body failed with this error.
    case upload(any Error)
    /// The task was cancelled, or the body has no reader any more.
    case cancelled
    /// The reactor is shutting down, or has shut down.
    case shutDown
    /// libcurl failed for an internal reason, such as lack of memory.
    case system(String)

    /// A stable name for metrics, logs and answers.
    package var code: String {
        switch self {
        case .invalidRequest: "backend.request"
        case .resolve: "backend.resolve"
        case .connect: "backend.connect"
        case .tls: "backend.tls"
        case .timeout(let deadline): "backend.timeout.\(deadline.rawValue)"
        case .closed: "backend.closed"
        case .protocolViolation: "backend.protocol"
        case .headTooLarge: "backend.head_too_large"
        case .bodyTooLarge: "backend.body_too_large"
        case .upload: "backend.upload"
        case .cancelled: "backend.cancelled"
        case .shutDown: "backend.shutdown"
        case .system: "backend.system"
        }
    }

    /// True if the server may have seen the request and acted on it, so that its outcome is unknown.
    package var mayHaveReachedServer: Bool {
        switch self {
        case .invalidRequest, .resolve, .connect, .tls, .timeout(.connect): false
        case .timeout, .closed, .protocolViolation, .headTooLarge, .bodyTooLarge, .upload, .cancelled, .shutDown,
            .system:
            true
        }
    }
}

extension CurlError: CustomStringConvertible {
    /// A sentence for the log.
    package var description: String {
        switch self {
        case .invalidRequest(let text): "the request cannot be sent: \(text)"
        case .resolve(let text): "the backend's name cannot be resolved: \(text)"
        case .connect(let text): "no connection to the backend: \(text)"
        case .tls(let text): "no TLS connection to the backend: \(text)"
        case .timeout(.connect): "the backend did not accept the connection in time"
        case .timeout(.firstByte): "the backend did not answer in time"
        case .timeout(.idle): "the backend fell silent"
        case .timeout(.total): "the exchange with the backend took too long"
        case .closed(let text): "the backend closed the connection too early: \(text)"
        case .protocolViolation(let text): "the backend's answer is not valid HTTP: \(text)"
        case .headTooLarge(let limit): "the head of the backend's answer has more than \(limit) bytes"
        case .bodyTooLarge(let limit): "the body of the backend's answer has more than \(limit) bytes"
        case .upload(let error): "the body of the request could not be read: \(error)"
        case .cancelled: "the exchange with the backend was cancelled"
        case .shutDown: "the gateway is shutting down"
        case .system(let text): "libcurl failed: \(text)"
        }
    }
}
