// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gzip
import HTTPTypes
package import NIOCore

/// The decompressed body of an answer of the backend, as it arrives.
///
/// It is read once. Reading slowly slows the backend down; dropping it, or cancelling the task that reads it, ends the
/// exchange. A clean end means only that the body is whole: its last line shows whether the stream is complete.
package struct BackendStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = BackendError

    private enum Source: Sendable {
        case plain(CurlBody)
        case compressed(InflatingSequence<CurlBody>)
    }

    private let source: Source
    private let limit: Int

    /// Creates the stream for the body of `response`, of at most `limit` bytes.
    ///
    /// - Throws: ``BackendError/encoding(_:)`` for an unknown encoding that was not offered.
    init(_ response: CurlResponse, limit: Int) throws(BackendError) {
        self.limit = limit
        let encodings = response.fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }.map { encoding in
            encoding.lowercased().filter { $0 != " " && $0 != "\t" }
        }.filter { $0 != "identity" && !$0.isEmpty }
        switch encodings {
        case []: source = .plain(response.body)
        case ["gzip"], ["x-gzip"]: source = .compressed(InflatingSequence(response.body, .gzip, limit: limit))
        case ["deflate"]: source = .compressed(InflatingSequence(response.body, .deflate, limit: limit))
        default: throw .encoding("\(encodings.joined(separator: ", ").prefix(100)) is not understood")
        }
    }

    /// Reads the whole body.
    ///
    /// - Returns: The body.
    /// - Throws: ``BackendError/answerTooLarge(limit:)``, ``BackendError/transport(_:)``,
    ///   ``BackendError/encoding(_:)``.
    package func collect() async throws(BackendError) -> ByteBuffer {
        var collected = ByteBuffer()
        for try await var chunk in self {
            if collected.readableBytes == 0 { collected = chunk } else { collected.writeBuffer(&chunk) }
        }
        return collected
    }

    /// Starts reading; a second iterator is a programming error and traps.
    package func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .plain(let body): AsyncIterator(source: .plain(body.makeAsyncIterator()), limit: limit)
        case .compressed(let body): AsyncIterator(source: .compressed(body.makeAsyncIterator()), limit: limit)
        }
    }

    /// Reads the body chunk by chunk.
    package struct AsyncIterator: AsyncIteratorProtocol {
        package typealias Element = ByteBuffer
        package typealias Failure = BackendError

        enum Source {
            case plain(CurlBody.AsyncIterator)
            case compressed(InflatingSequence<CurlBody>.AsyncIterator)
        }

        var source: Source
        let limit: Int
        private var total = 0

        init(source: Source, limit: Int) {
            self.source = source
            self.limit = limit
        }

        /// Returns the next bytes, at least one; nil at the end of the body.
        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BackendError) -> ByteBuffer? {
            let chunk: ByteBuffer?
            do {
                switch source {
                case .plain(var iterator):
                    defer { source = .plain(iterator) }
                    chunk = try await iterator.next(isolation: actor)
                case .compressed(var iterator):
                    defer { source = .compressed(iterator) }
                    chunk = try await iterator.next(isolation: actor)
                }
            } catch {
                throw BackendError(reading: error)
            }
            guard let chunk else { return nil }
            guard chunk.readableBytes <= limit - total else { throw .answerTooLarge(limit: limit) }
            total += chunk.readableBytes
            return chunk
        }

        /// Returns the next bytes, at least one; nil at the end of the body.
        package mutating func next() async throws(BackendError) -> ByteBuffer? {
            try await next(isolation: #isolation)
        }
    }
}

extension BackendError {
    /// Converts an error that occurred while reading a body.
    init(reading error: any Error) {
        switch error {
        case let error as CurlError: self = .transport(error)
        case GzipError.outputTooLarge(let limit): self = .answerTooLarge(limit: limit)
        // A body that ends when the connection closes may be cut without the connection showing it.
        case GzipError.truncated: self = .transport(.closed("the compressed body ends too early"))
        case let error as GzipError: self = .encoding(error.code)
        default: self = .transport(.cancelled)
        }
    }
}
