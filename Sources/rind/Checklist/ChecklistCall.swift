// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
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
    func failed(_ error: BackendError, at settings: BackendSettings) -> CheckFinding {
        let address = call(in: settings).map { "\($0.method) \(settings.path(of: $0))" } ?? key
        let problem =
            switch error {
            case .refused(let status), .ackRefused(let status), .unexpectedStatus(let status): "status \(status)"
            default: "\(error)"
            }
        return CheckFinding(.wrong, "\(address): \(problem) (\(error.code))", hint: hint(error))
    }

    private func hint(_ error: BackendError) -> String {
        switch error {
        case .transport: BackendCheck.hint(error) ?? key
        case .busy, .circuitOpen: "try again"
        case .failed: "look at the backend's log"
        case .credentialRefused: "may the account of '--header' make this call? \(key)"
        case .typesRefused: "'request' of the tables"
        case .refused, .ackRefused, .unexpectedStatus, .contentType, .encoding, .answerTooLarge, .malformedAnswer,
            .resultsMissing, .invalidCall, .unsafeValue, .notConfigured:
            key
        }
    }
}
