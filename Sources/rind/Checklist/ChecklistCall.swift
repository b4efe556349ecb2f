// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import SyncModel

/// A call that the checklist makes.
enum ChecklistCall {
    case stream, acknowledgement, forget, push

    /// The key that configures it.
    private var key: String {
        switch self {
        case .stream: "[backend] stream"
        case .acknowledgement: "[backend] ack"
        case .forget: "[backend] forget"
        case .push: "[push] path"
        }
    }

    private func call(in settings: BackendSettings) -> Call? {
        switch self {
        case .stream: settings.stream
        case .acknowledgement: settings.acknowledge
        case .forget: settings.forget
        case .push: settings.streamPush
        }
    }

    /// Names the call that has failed, the error, and where to look.
    func failed(_ error: BackendError, at settings: BackendSettings, isSecond: Bool) -> CheckFinding {
        let address = call(in: settings).map { "\($0.method) \(settings.path(of: $0))" } ?? key
        let problem =
            switch error {
            case .refused(let status), .ackRefused(let status), .unexpectedStatus(let status): "status \(status)"
            default: "\(error)"
            }
        let account = isSecond ? ", to the second account" : ""
        return CheckFinding(.wrong, "\(address): \(problem)\(account) (\(error.code))", hint: hint(error))
    }

    private func hint(_ error: BackendError) -> String {
        switch error {
        case .transport(.closed): "the connection was closed in the middle: look at the backend's log"
        case .transport: BackendCheck.hint(error) ?? key
        case .busy, .circuitOpen: "try again"
        case .failed: "look at the backend's log"
        case .credentialRefused: "is the credential valid, and may the account make this call? \(key)"
        case .resultsMissing, .malformedAnswer: "the answer is not as docs/BACKEND-PROTOCOL.md has it; \(key)"
        case .typesRefused: "'request' of the tables"
        case .refused, .ackRefused, .unexpectedStatus, .contentType, .encoding, .answerTooLarge,
            .invalidCall, .unsafeValue, .notConfigured:
            key
        }
    }
}
