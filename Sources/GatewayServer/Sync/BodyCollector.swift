// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Gzip
package import NIOCore

/// Reads the body of a sync request into memory, decompressed, within its limits.
package struct BodyCollector: Sendable {
    /// The most bytes as they come.
    package var limit: Int
    /// The most bytes after decompression.
    package var inflatedLimit: Int

    /// A collector with these limits.
    package init(limit: Int, inflatedLimit: Int) {
        self.limit = limit
        self.inflatedLimit = inflatedLimit
    }

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - announced: Its `Content-Length`, if it has one.
    ///   - coding: Its `Content-Encoding` field.
    ///   - lease: Pays for the memory.
    ///   - next: Gives the next piece; nil at the end.
    /// - Returns: The body, decompressed.
    /// - Throws: `request.body_too_large` (413), also for more than the lease can ever hold, `request.encoding` (415), `request.compressed_body` (400),
    ///   `limit.bodies` (503), and what `next` throws.
    package func collect(
        announced: Int?, coding: String?, lease: ByteLease, next: () async throws -> ByteBuffer?
    ) async throws -> [UInt8] {
        let format = try ContentCoding.format(of: coding)
        guard announced ?? 0 <= limit else { throw tooLarge(limit) }
        let inflater = try format.map { try Inflater($0, limit: inflatedLimit) }
        var room = Room(most: format == nil ? announced ?? limit : inflatedLimit)
        var received = 0
        while var piece = try await next() {
            received += piece.readableBytes
            guard received <= limit else { throw tooLarge(limit) }
            guard let inflater else {
                try room.append(piece, lease)
                continue
            }
            do {
                while let chunk = try inflater.next(from: &piece) { try room.append(chunk, lease) }
            } catch let error as GzipError {
                throw failure(error)
            }
        }
        do { try inflater?.finish() } catch { throw failure(error) }
        return room.body
    }

    /// A body and what is paid for.
    private struct Room {
        var body: [UInt8] = []
        /// The most that the body can be.
        let most: Int
        private var paid = 0

        init(most: Int) { self.most = most }

        /// Doubles as the body comes, up to the most: what a client announces and never sends takes no memory.
        mutating func append(_ piece: ByteBuffer, _ lease: ByteLease) throws {
            let needed = body.count + piece.readableBytes
            if needed > paid {
                let capacity = max(needed, min(2 * paid, most))
                try lease.take(capacity - paid)
                paid = capacity
                body.reserveCapacity(capacity)
            }
            body.append(contentsOf: piece.readableBytesView)
        }
    }

    private func tooLarge(_ limit: Int) -> GatewayError {
        .tooLarge("the body has more than \(limit) bytes")
    }

    private func failure(_ error: GzipError) -> GatewayError {
        switch error {
        case .outputTooLarge: tooLarge(inflatedLimit)
        case .corrupt, .truncated:
            GatewayError(
                status: 400, code: "request.compressed_body", message: "The request's body can't be decompressed.",
                cause: error.code)
        case .outOfMemory:
            GatewayError(
                status: 503, code: "limit.memory", message: "The server is busy. Please try again in a moment.",
                retryAfter: 5, cause: error.code)
        }
    }
}
