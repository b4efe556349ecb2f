// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
package import Curl
import Deduplication
import Ledger
import StateStore
import SyncMachines
import SyncModel
package import WatermelonWire

// The one place that turns an error into an answer: status, stable code, and a sentence for the user.
extension GatewayError {
    /// Creates the answer to any error.
    ///
    /// Sentences state what the user can do, never the cause; that is in ``cause``, for the log.
    package init(_ error: any Error) {
        switch error {
        case let error as GatewayError: self = error
        case let fault as GatewayFault: self.init(fault: fault)
        case let error as WireError: self.init(status: error.status, code: error.code.rawValue, message: error.message)
        case let error as PullFailure: self.init(error)
        case let error as SchemaRefusal: self.init(status: 400, code: error.code, message: error.message)
        case let error as PushFailure: self.init(error)
        case let error as BackendError: self.init(error)
        case let error as StateError: self.init(error)
        case SpoolError.cancelled: self.init(CancellationError())
        case let error as SpoolError: self.init(error)
        case let error as LedgerError:
            self.init(status: 500, code: error.rawValue, message: "This device cannot sync. Please contact support.")
        case is DamagedRun: self.init(SpoolError.file(operation: "merge", errno: 0))
        case let error as LockError: self.init(error)
        case let error as StreamIntake.Failure:
            self.init(
                status: error == .tooManyLines ? 502 : 500, code: error.rawValue,
                message: "There is too much data for one sync. Please contact support.")
        case is CancellationError: self.init(fault: .cancelled)
        default: self.init(fault: .unknown, cause: "\(error)")
        }
    }

    /// Creates the answer to a request that the gateway itself refuses.
    ///
    /// - Parameters:
    ///   - fault: The reason.
    ///   - details: The records that it is about.
    ///   - cause: The cause, for the log only.
    ///   - figures: The figures of the sync, for the log.
    package init(
        fault: GatewayFault, details: [RecordList] = [], cause: String? = nil, figures: SyncFigures? = nil
    ) {
        self.init(
            status: fault.status, code: fault.rawValue, message: fault.message, retryAfter: fault.retryAfter,
            details: details, cause: cause, figures: figures)
    }

    /// Creates the answer to a pass-through request that the backend does not answer.
    package init(proxying error: CurlError) {
        switch error {
        case .invalidRequest:
            self.init(
                status: 400, code: GatewayFault.malformed.rawValue, message: "The request cannot be passed on.",
                cause: error.description)
        case .timeout: self.init(status: 504, code: error.code, message: Self.later, cause: error.description)
        case .cancelled, .shutDown:
            self.init(status: 503, code: error.code, message: Self.later, cause: error.description)
        default: self.init(status: 502, code: error.code, message: Self.later, cause: error.description)
        }
        if status != 400 { retryAfter = 5 }
    }

    /// Creates the answer to a request whose path takes other methods.
    package init(allowedMethods methods: [String]) {
        self.init(
            status: 405, code: WireError.Code.method.rawValue,
            message: "This address takes \(methods.joined(separator: " and ")) requests only.")
    }

    private static let later = "The server cannot be reached right now. Please try again in a moment."

    private init(_ failure: PullFailure) {
        if failure == .idsUnknown {
            self.init(fault: .queueWait)
            return
        }
        if failure == .idsChanged {
            self.init(StateError.idsChanged)
            return
        }
        let message =
            switch failure {
            case .unknownCursor: "This device can no longer sync. Please sign out and in again."
            case .streamBroken, .resetAgain, .tokensRefused, .positionMoved, .cursorContention, .idsChanged,
                .idsUnknown:
                Self.later
            case .typesRefused: "The server did not understand. Please contact support."
            case .clockBehind: "The server is not ready yet. Please try again later."
            case .unexpectedEvent: "Something went wrong. Please try again later."
            }
        let isFinal = failure == .unknownCursor
        let isBackend = failure == .streamBroken || failure == .tokensRefused || failure == .typesRefused
        self.init(
            status: isFinal ? 409 : isBackend ? 502 : failure == .unexpectedEvent ? 500 : 503, code: failure.rawValue,
            message: message,
            retryAfter: isFinal || failure == .typesRefused ? nil : 5)
    }

    private init(_ failure: PushFailure) {
        if failure == .unexpectedEvent {
            self.init(
                status: 500, code: failure.rawValue, message: "Something went wrong. Please try again later.")
            return
        }
        self.init(
            status: 502, code: failure.rawValue,
            message: "It is not certain that your changes were saved. Please sync again.", retryAfter: 2)
    }

    private init(_ error: BackendError) {
        let cause = error.description
        switch error {
        case .credentialRefused(let status):
            self.init(
                status: status, code: error.code,
                message: status == 401 ? "You are not signed in any more." : "You are not allowed to sync.",
                cause: cause)
        case .busy(let status, let retryAfter):
            self.init(
                status: status == 429 ? 429 : 503, code: error.code,
                message: "The server is busy. Please try again in a moment.",
                retryAfter: retryAfter.map { Int($0.components.seconds) } ?? 5, cause: cause)
        case .circuitOpen(let retryAfter):
            self.init(
                status: 503, code: error.code, message: Self.later,
                retryAfter: max(1, Int((retryAfter.milliseconds + 999) / 1_000)), cause: cause)
        case .transport(CurlError.timeout):
            self.init(status: 504, code: error.code, message: Self.later, retryAfter: 5, cause: cause)
        case .transport, .failed, .encoding:
            self.init(status: 502, code: error.code, message: Self.later, retryAfter: 5, cause: cause)
        case .typesRefused, .refused, .ackRefused, .unexpectedStatus, .contentType, .answerTooLarge, .malformedAnswer,
            .resultsMissing, .invalidCall, .unsafeValue, .notConfigured:
            self.init(
                status: 502, code: error.code, message: "The server did not understand. Please contact support.",
                cause: cause)
        }
    }

    private init(_ error: StateError) {
        self.init(
            status: error.isTransient || error.isUnavailable ? 503 : 500, code: error.code,
            message: "The server cannot keep track of syncs right now. Please try again later.",
            retryAfter: error.isContention ? 1 : error.isTransient ? 5 : nil, cause: error.description)
    }

    private init(_ error: SpoolError) {
        self.init(
            status: error == .tooLarge ? 500 : 503, code: error.code,
            message: error == .tooLarge
                ? "There is too much data for one sync. Please contact support."
                : "The server has no room right now. Please try again later.",
            retryAfter: error == .tooLarge ? nil : 30, cause: "\(error)")
    }

    private init(_ error: LockError) {
        switch error {
        case .queueFull: self.init(fault: .queue)
        case .timedOut: self.init(fault: .queueWait)
        case .heldElsewhere: self.init(fault: .leaseWait)
        }
    }
}
