// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import NIOCore

/// The answer to a request: its head, and a body that is still coming.
package struct CurlResponse: Sendable {
    /// The final status; interim ones (1xx) are skipped.
    package let status: HTTPResponse.Status
    /// The header fields; bytes outside ASCII are kept, fields whose name is no token are left out.
    package let fields: HTTPFields
    /// The body, exactly as sent: nothing is decompressed.
    package let body: CurlBody

    /// An answer.
    package init(status: HTTPResponse.Status, fields: HTTPFields, body: CurlBody) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The body of an answer, as it comes from the network.
///
/// It is read once, by one iterator. Whoever reads slowly slows the server down: only a few hundred kilobytes are
/// kept. Dropping it, or cancelling the task that reads it, ends the exchange and closes its connection.
package struct CurlBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = CurlError

    private enum Source: Sendable {
        case reactor(BodyProducer, Exchange)
        case transport(@Sendable () async throws(CurlError) -> ByteBuffer?)
    }

    private let source: Source

    init(producer: BodyProducer, exchange: Exchange) { source = .reactor(producer, exchange) }

    /// A body of a transport of one's own; `next` gives the next bytes, and nil once when all have come.
    package init(next: @escaping @Sendable () async throws(CurlError) -> ByteBuffer?) { source = .transport(next) }

    /// Starts reading; a second iterator is a programming error and traps.
    package func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .reactor(let producer, let exchange):
            AsyncIterator(source: .reactor(producer.makeAsyncIterator(), exchange))
        case .transport(let next): AsyncIterator(source: .transport(next))
        }
    }

    /// Reads all of it.
    ///
    /// - Parameter limit: In bytes.
    /// - Returns: The body.
    /// - Throws: ``CurlError/bodyTooLarge(limit:)`` as soon as more than `limit` bytes came.
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

        /// The next bytes, never none; nil only when the whole body has come.
        ///
        /// - Throws: ``CurlError``, also ``CurlError/cancelled`` where a cancelled task reads.
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
                // A cancelled sequence may end as if nothing were wrong; only the reactor knows a clean end.
                guard exchange.isComplete else { throw .cancelled }
                return nil
            }
        }

        /// The next bytes, never none; nil only when the whole body has come.
        package mutating func next() async throws(CurlError) -> ByteBuffer? { try await next(isolation: #isolation) }
    }
}

/// What carries the bytes from the reactor's thread to the task that reads them.
typealias BodyProducer = NIOThrowingAsyncSequenceProducer<
    ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, BodyDelegate
>

/// Tells the reactor what the reader wants; called on the reader's thread.
struct BodyDelegate: NIOAsyncSequenceProducerDelegate {
    let mailbox: Mailbox
    let transfer: UInt64

    func produceMore() { mailbox.post(.resume(transfer)) }
    func didTerminate() { mailbox.post(.cancel(transfer)) }
}
