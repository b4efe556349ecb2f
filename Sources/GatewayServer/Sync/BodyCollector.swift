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
    /// - Throws: `request.body_too_large` (413), `request.encoding` (415), `request.compressed_body` (400),
    ///   `limit.bodies` (503), and what `next` throws.
    package func collect(
        announced: Int?, coding: String?, lease: ByteLease, next: () async throws -> ByteBuffer?
    ) async throws -> [UInt8] {
        let format = try ContentCoding.format(of: coding)
        guard announced ?? 0 <= limit else { throw tooLarge(limit) }
        let inflater = try format.map { try Inflater($0, limit: inflatedLimit) }
        var body: [UInt8] = []
        var received = 0
        while var piece = try await next() {
            received += piece.readableBytes
            guard received <= limit else { throw tooLarge(limit) }
            guard let inflater else {
                try append(piece, to: &body, lease)
                continue
            }
            do {
                while let chunk = try inflater.next(from: &piece) { try append(chunk, to: &body, lease) }
            } catch let error as GzipError {
                throw failure(error)
            }
        }
        do { try inflater?.finish() } catch { throw failure(error) }
        return body
    }

    private func append(_ piece: ByteBuffer, to body: inout [UInt8], _ lease: ByteLease) throws {
        try lease.take(piece.readableBytes)
        body.append(contentsOf: piece.readableBytesView)
    }

    private func tooLarge(_ limit: Int) -> GatewayError {
        GatewayError(
            status: 413, code: "request.body_too_large", message: "There are too many changes for one sync.",
            cause: "the body has more than \(limit) bytes")
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
