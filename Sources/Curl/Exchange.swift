// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore

/// The state shared by the reactor's thread and the task that executes a request.
final class Exchange: Sendable {
    /// The head of an answer.
    struct Head: Sendable {
        var status: HTTPResponse.Status
        var fields: HTTPFields
        /// True if the connection may serve another exchange; false after an answer of doubtful length.
        var mayKeepConnection = true
    }

    private enum HeadState {
        case pending
        case waiting(CheckedContinuation<Result<Head, CurlError>, Never>)
        case resolved(Result<Head, CurlError>)
    }

    let id: UInt64
    private let source: BodyProducer.Source
    private let headState = NIOLockedValueBox(HeadState.pending)
    private let completeness: NIOLockedValueBox<Bool>

    /// Creates an exchange; the reader's delegate has the same `completeness`.
    init(id: UInt64, source: BodyProducer.Source, completeness: NIOLockedValueBox<Bool>) {
        self.id = id
        self.source = source
        self.completeness = completeness
    }

    /// True if the whole answer has come.
    var isComplete: Bool { completeness.withLockedValue(\.self) }

    /// Waits for the head, or for the reason why there is none; awaited once.
    func head() async -> Result<Head, CurlError> {
        await withCheckedContinuation { continuation in
            let result = headState.withLockedValue { state -> Result<Head, CurlError>? in
                if case .resolved(let result) = state { return result }
                state = .waiting(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// Gives the waiting task its head or its error; only the first call counts.
    func resolve(_ result: Result<Head, CurlError>) {
        let continuation = headState.withLockedValue { state -> CheckedContinuation<Result<Head, CurlError>, Never>? in
            switch state {
            case .resolved: return nil
            case .pending:
                state = .resolved(result)
                return nil
            case .waiting(let continuation):
                state = .resolved(result)
                return continuation
            }
        }
        continuation?.resume(returning: result)
    }

    /// Passes bytes to the reader.
    func yield(_ bytes: ByteBuffer) -> BodyProducer.Source.YieldResult { source.yield(bytes) }

    /// Ends the exchange, cleanly if `error` is nil; later calls do nothing.
    func finish(_ error: CurlError?) {
        if let error {
            resolve(.failure(error))
            source.finish(error)
        } else {
            completeness.withLockedValue { $0 = true }
            source.finish()
        }
    }
}
