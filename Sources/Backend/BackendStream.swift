// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gzip
import HTTPTypes
package import NIOCore

/// The bytes of a backend's answer as they come, decompressed within a limit.
package struct BackendStream: AsyncSequence {
    package typealias Element = ByteBuffer
    package typealias Failure = any Error

    private enum Source {
        case plain(CurlBody)
        case compressed(InflatingSequence<CurlBody>)
    }

    private let source: Source
    private let limit: Int

    /// The body of an answer.
    ///
    /// - Throws: ``BackendError/undecodable(_:)`` for an encoding that was not offered.
    init(_ response: CurlResponse, limit: Int) throws(BackendError) {
        self.limit = limit
        let encoding = response.fields[.contentEncoding]?.lowercased() ?? "identity"
        switch encoding {
        case "identity", "": source = .plain(response.body)
        case "gzip", "x-gzip": source = .compressed(InflatingSequence(response.body, .gzip, limit: limit))
        default: throw .undecodable("'\(encoding.prefix(40))' was not offered")
        }
    }

    /// Starts reading; a second iterator is a programming error and traps.
    package func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .plain(let body): AsyncIterator(source: .plain(body.makeAsyncIterator()), left: limit)
        case .compressed(let body): AsyncIterator(source: .compressed(body.makeAsyncIterator()), left: limit)
        }
    }

    /// Reads all of it.
    func collect() async throws(BackendError) -> [UInt8] {
        var bytes: [UInt8] = []
        var iterator = makeAsyncIterator()
        do {
            while let chunk = try await iterator.next() { bytes += chunk.readableBytesView }
        } catch {
            throw Self.backendError(error)
        }
        return bytes
    }

    /// Reads the body chunk by chunk.
    package struct AsyncIterator: AsyncIteratorProtocol {
        package typealias Element = ByteBuffer
        package typealias Failure = any Error

        enum Source {
            case plain(CurlBody.AsyncIterator)
            case compressed(InflatingSequence<CurlBody>.AsyncIterator)
        }

        var source: Source
        var left: Int

        /// The next bytes, never none; nil when the whole body has come.
        ///
        /// - Throws: ``BackendError``, or `CancellationError` where a cancelled task reads.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            let chunk: ByteBuffer?
            do {
                switch source {
                case .plain(var iterator):
                    chunk = try await iterator.next(isolation: actor)
                    source = .plain(iterator)
                case .compressed(var iterator):
                    chunk = try await iterator.next(isolation: actor)
                    source = .compressed(iterator)
                }
            } catch {
                if Task.isCancelled { throw CancellationError() }
                throw BackendStream.backendError(error)
            }
            left -= chunk?.readableBytes ?? 0
            guard left >= 0 else { throw BackendError.undecodable("it is larger than allowed") }
            return chunk
        }

        /// The next bytes, never none; nil when the whole body has come.
        package mutating func next() async throws -> ByteBuffer? { try await next(isolation: #isolation) }
    }

    static func backendError(_ error: any Error) -> BackendError {
        switch error {
        case let error as BackendError: error
        case let error as CurlError: .transport(error)
        case GzipError.truncated: .transport(.closed("the compressed body ends too early"))
        case let error as GzipError: .undecodable(error.code)
        default: .undecodable("\(error)")
        }
    }
}
