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
}

/// The body of an answer, as it comes from the network.
///
/// It is read once, by one iterator. Whoever reads slowly slows the server down: only a few hundred kilobytes are
/// kept. Dropping it, or cancelling the task that reads it, ends the exchange and closes its connection.
package struct CurlBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = CurlError

    let producer: BodyProducer
    let exchange: Exchange

    /// Starts reading; a second iterator is a programming error and traps.
    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: producer.makeAsyncIterator(), exchange: exchange)
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

        var iterator: BodyProducer.AsyncIterator
        let exchange: Exchange

        /// The next bytes, never none; nil only when the whole body has come.
        ///
        /// - Throws: ``CurlError``, also ``CurlError/cancelled`` where a cancelled task reads.
        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(CurlError) -> ByteBuffer? {
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
