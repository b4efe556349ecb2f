// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
import NIOConcurrencyHelpers
package import NIOCore

/// The answer to a request: its head, and a body that is still arriving.
package struct CurlResponse: Sendable {
    /// The final status; interim ones (1xx) are skipped, except the 101 that was asked for.
    package let status: HTTPResponse.Status
    /// The header fields; bytes outside ASCII are kept, fields whose name is not a token are left out.
    package let fields: HTTPFields
    /// The body, exactly as sent: it is not decompressed.
    package let body: CurlBody

    /// Creates an answer.
    package init(status: HTTPResponse.Status, fields: HTTPFields, body: CurlBody) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The body of an answer, as it arrives from the network.
///
/// It is read once, by one iterator. A slow reader slows the server down: only a few hundred kilobytes are buffered.
/// Dropping it, or cancelling the task that reads it, ends the exchange and closes its connection.
package struct CurlBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = CurlError

    private enum Source: Sendable {
        case reactor(BodyProducer, StartedExchange, Mailbox)
        case transport(@Sendable () async throws(CurlError) -> ByteBuffer?)
    }

    private let source: Source

    init(of started: StartedExchange, _ mailbox: Mailbox) { source = .reactor(started.body, started, mailbox) }

    /// Creates a body for another transport; `next` returns the next bytes, and nil once at the end.
    package init(next: @escaping @Sendable () async throws(CurlError) -> ByteBuffer?) { source = .transport(next) }

    /// Starts reading; a second iterator is a programming error and traps.
    package func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .reactor(let producer, let started, _):
            AsyncIterator(source: .reactor(producer.makeAsyncIterator(), started.exchange))
        case .transport(let next): AsyncIterator(source: .transport(next))
        }
    }

    /// Ends the exchange from another task: after the bytes that have come, the iterator throws
    /// ``CurlError/cancelled``, unless the body was complete.
    package func cancel() {
        if case .reactor(_, let started, let mailbox) = source { started.cancel(mailbox) }
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: In bytes.
    /// - Returns: The body.
    /// - Throws: ``CurlError/bodyTooLarge(limit:)`` as soon as more than `limit` bytes have come.
    package func collect(upTo limit: Int) async throws(CurlError) -> ByteBuffer {
        var collected = ByteBuffer()
        for try await var chunk in self {
            guard chunk.readableBytes <= limit - collected.readableBytes else { throw .bodyTooLarge(limit: limit) }
            if collected.readableBytes == 0 { collected = chunk } else { collected.writeBuffer(&chunk) }
        }
        return collected
    }

    /// Reads the body chunk by chunk.
    package struct AsyncIterator: AsyncIteratorProtocol {
        package typealias Element = ByteBuffer
        package typealias Failure = CurlError

        enum Source {
            case reactor(BodyProducer.AsyncIterator, Exchange)
            case transport(@Sendable () async throws(CurlError) -> ByteBuffer?)
        }

        let source: Source

        /// Returns the next bytes, at least one; nil only at the end of the body.
        ///
        /// - Throws: ``CurlError``; ``CurlError/cancelled`` also if the reading task is cancelled.
        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(CurlError) -> ByteBuffer? {
            switch source {
            case .transport(let next): return try await next()
            case .reactor(var iterator, let exchange):
                do {
                    if let chunk = try await iterator.next(isolation: actor) { return chunk }
                } catch let error as CurlError {
                    throw error
                } catch {
                    throw .cancelled
                }
                // A cancelled sequence may end as if complete; only the reactor can report a clean end.
                guard exchange.isComplete else { throw .cancelled }
                return nil
            }
        }

        /// Returns the next bytes, at least one; nil only at the end of the body.
        package mutating func next() async throws(CurlError) -> ByteBuffer? { try await next(isolation: #isolation) }
    }
}

/// Carries the bytes from the reactor's thread to the task that reads them.
typealias BodyProducer = NIOThrowingAsyncSequenceProducer<
    ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, BodyDelegate
>

/// Tells the reactor when the reader wants more bytes or has ended; called on the reader's thread.
struct BodyDelegate: NIOAsyncSequenceProducerDelegate {
    let mailbox: Mailbox
    let transfer: UInt64
    /// True once the whole body has come.
    let completeness: NIOLockedValueBox<Bool>

    func produceMore() { mailbox.post(.resume(transfer)) }
    func didTerminate() {
        // Most bodies are read to their end; nobody need be woken then.
        if !completeness.withLockedValue(\.self) { mailbox.post(.cancel(transfer)) }
    }
}
