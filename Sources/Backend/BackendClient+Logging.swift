// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Logging
package import SyncModel

/// The key of the configuration that names a call.
package enum CallName: String, Sendable {
    /// `[identity] principal`.
    case principal
    /// `[backend] stream`.
    case stream
    /// `[backend] ack`.
    case ack
    /// `[backend] list`.
    case list
    /// `[backend] forget`.
    case forget
    /// `[push] path`.
    case push
}

extension BackendClient {
    /// Makes a call; if it fails or its answer is not as agreed, logs which call it was.
    ///
    /// A refused credential is not logged: it is normal.
    func telling<Result>(
        of name: CallName, _ call: Call, as credentials: ForwardedCredentials,
        _ body: () async throws(BackendError) -> Result
    ) async throws(BackendError) -> Result {
        do throws(BackendError) {
            return try await body()
        } catch {
            if error.isAboutAnswer {
                log(error.code, error.description, status: error.status, of: name, call: call, as: credentials)
            } else if error.isAboutConnection {
                write(
                    "a call to the backend failed", code: error.code, error: error.description, status: nil, of: name,
                    call: call, as: credentials)
            }
            throw error
        }
    }

    /// Logs at `info` which call got a wrong answer: the cause and the place, but no values and no bodies.
    package func log(
        _ code: String, _ error: String, status: Int? = nil, of name: CallName, call: Call,
        as credentials: ForwardedCredentials
    ) {
        write(
            "the backend's answer to a call is not what it should be", code: code, error: error, status: status,
            of: name, call: call, as: credentials)
    }

    private func write(
        _ message: Logger.Message, code: String, error: String, status: Int?, of name: CallName, call: Call,
        as credentials: ForwardedCredentials
    ) {
        var metadata: Logger.Metadata = [
            "code": "\(code)", "error": "\(error)", "call": "\(name.rawValue)", "backend_method": "\(call.method)",
            "backend_path": "\(settings.path(of: call))",
        ]
        if let status { metadata["backend_status"] = "\(status)" }
        if logger[metadataKey: "request_id"] == nil, let id = credentials.requestID {
            metadata["request_id"] = "\(id)"
        }
        logger.info(message, metadata: metadata)
    }
}

extension BackendSettings {
    /// Returns the URL path of a call, with its placeholders as written and without a query.
    package func path(of call: Call) -> String {
        let text = call.target.map { fragment in
            switch fragment {
            case .text(let text): text
            case .placeholder(let name): "{\(name)}"
            }
        }.joined()
        return basePath + text.prefix { $0 != "?" }
    }

    /// The path of the backend's URL, without a slash at its end.
    package var basePath: String {
        let rest = baseURL.firstRange(of: "://").map { baseURL[$0.upperBound...] } ?? baseURL[...]
        return String(rest.drop { $0 != "/" })
    }
}

extension BackendError {
    /// True if an answer came that is not as agreed.
    ///
    /// Refused credentials do not count, nor do refused types: the code that asked for them reports more.
    fileprivate var isAboutAnswer: Bool {
        switch self {
        case .busy, .refused, .ackRefused, .failed, .unexpectedStatus, .contentType, .encoding, .answerTooLarge,
            .malformedAnswer, .resultsMissing:
            true
        case .transport, .credentialRefused, .typesRefused, .circuitOpen, .invalidCall, .unsafeValue, .notConfigured:
            false
        }
    }

    /// True if no whole answer came, because of the network or the backend.
    fileprivate var isAboutConnection: Bool {
        guard case .transport(let error) = self else { return false }
        switch error {
        case .resolve, .connect, .tls, .timeout, .closed, .protocolViolation, .headTooLarge, .bodyTooLarge, .system:
            return true
        case .invalidRequest, .upload, .cancelled, .shutDown: return false
        }
    }

    /// The status of the answer, if the error has one.
    fileprivate var status: Int? {
        switch self {
        case .credentialRefused(let status), .busy(let status, _), .refused(let status), .ackRefused(let status),
            .failed(let status), .unexpectedStatus(let status):
            status
        default: nil
        }
    }
}
