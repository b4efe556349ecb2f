// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The content of a compressed sequence of bytes, decompressed on demand.
///
/// The base is asked for its next element only when all of the last one has been returned, so its back-pressure goes
/// through. The sequence throws the errors of the base, and ``GzipError``; a base that ends in the middle of the
/// compressed data ends here with ``GzipError/truncated``, never cleanly.
package struct InflatingSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == ByteBuffer {
    package typealias Element = ByteBuffer
    package typealias Failure = any Error

    private let base: Base
    private let format: Inflater.Format
    private let limit: Int

    /// Creates the sequence of the content of `base`, of at most `limit` bytes.
    package init(_ base: Base, _ format: Inflater.Format = .gzip, limit: Int) {
        self.base = base
        self.format = format
        self.limit = limit
    }

    /// Starts reading.
    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), format: format, limit: limit)
    }

    /// Reads the content chunk by chunk.
    package struct AsyncIterator: AsyncIteratorProtocol {
        package typealias Element = ByteBuffer
        package typealias Failure = any Error

        private var base: Base.AsyncIterator
        private let format: Inflater.Format
        private let limit: Int
        private var inflater: Inflater?
        private var input = ByteBuffer()
        private var isFinished = false

        init(base: Base.AsyncIterator, format: Inflater.Format, limit: Int) {
            self.base = base
            self.format = format
            self.limit = limit
        }

        /// Returns the next chunk, never an empty one; nil at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            guard !isFinished else { return nil }
            let inflater = try self.inflater ?? Inflater(format, limit: limit)
            self.inflater = inflater
            while true {
                if let chunk = try inflater.next(from: &input) { return chunk }
                guard let more = try await base.next(isolation: actor) else { break }
                input = more
            }
            isFinished = true
            try inflater.finish()
            return nil
        }

        /// Returns the next chunk, never an empty one; nil at the end.
        package mutating func next() async throws -> ByteBuffer? { try await next(isolation: #isolation) }
    }
}

extension InflatingSequence: Sendable where Base: Sendable {}
