// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Gzip
package import NIOCore

/// Reads the body of a sync request into memory, decompressed, within its limits.
///
/// A small body is read before it is known who has sent it, and is paid for from a budget of its own until it is whole;
/// so strangers hold nothing of `[limits] push_memory` but small bodies that are whole, while the backend is asked.
package struct BodyCollector: Sendable {
    /// The most bytes of a body, decompressed or not, whose caller is not known yet.
    static let smallLimit = 64 * 1_024
    /// What all small bodies that are on their way take together; beyond that callers are asked for first.
    private let strangers = ByteBudget(limit: 16 << 20)
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
    ///   - admit: Makes sure that the caller may send more than a small body; called at the most once.
    ///   - next: Gives the next piece; nil at the end.
    /// - Returns: The body, decompressed.
    /// - Throws: `request.body_too_large` (413), also for more than the lease can ever hold, `request.encoding` (415),
    ///   `request.compressed_body` (400), `limit.bodies` (503), and what `admit` and `next` throw.
    package func collect(
        announced: Int?, coding: String?, lease: ByteLease, admit: () async throws -> Void,
        next: () async throws -> ByteBuffer?
    ) async throws -> [UInt8] {
        let format = try ContentCoding.format(of: coding)
        guard announced ?? 0 <= limit else { throw tooLarge(limit) }
        let inflater = try format.map { try Inflater($0, limit: inflatedLimit) }
        var room = Room(most: format == nil ? announced ?? limit : inflatedLimit, lease, strangers.lease())
        var received = 0
        if announced ?? 0 > Self.smallLimit { try await room.open(admit) }
        while var piece = try await next() {
            received += piece.readableBytes
            guard received <= limit else { throw tooLarge(limit) }
            if received > Self.smallLimit { try await room.open(admit) }
            guard let inflater else {
                try await room.append(piece, admit)
                continue
            }
            do {
                while let chunk = try inflater.next(from: &piece) { try await room.append(chunk, admit) }
            } catch let error as GzipError {
                throw failure(error)
            }
        }
        do { try inflater?.finish() } catch { throw failure(error) }
        return try room.close()
    }

    /// A body and what is paid for.
    private struct Room {
        private var body: [UInt8] = []
        /// The most that the body can be.
        private let most: Int
        private var paid = 0
        private let lease: ByteLease
        /// Pays until the caller is admitted or the body is whole; nil from then on.
        private var small: ByteLease?

        init(most: Int, _ lease: ByteLease, _ small: ByteLease) {
            self.most = most
            self.lease = lease
            self.small = small
        }

        /// Doubles as the body comes, up to the most: what a client announces and never sends takes no memory.
        mutating func append(_ piece: ByteBuffer, _ admit: () async throws -> Void) async throws {
            let needed = body.count + piece.readableBytes
            if needed > paid {
                if needed > smallLimit { try await open(admit) }
                var capacity = max(needed, min(2 * paid, most))
                if let small {
                    capacity = min(capacity, smallLimit)
                    if !small.tryTake(capacity - paid) { try await open(admit) }
                }
                if small == nil { try lease.take(capacity - paid) }
                paid = capacity
                body.reserveCapacity(capacity)
            }
            body.append(contentsOf: piece.readableBytesView)
        }

        /// Goes on for a caller that is admitted.
        mutating func open(_ admit: () async throws -> Void) async throws {
            guard small != nil else { return }
            try await admit()
            try reserve()
        }

        mutating func close() throws -> [UInt8] {
            if small != nil { try reserve() }
            return body
        }

        private mutating func reserve() throws {
            try lease.take(paid)
            small = nil
        }
    }

    private func tooLarge(_ limit: Int) -> GatewayError {
        .tooLarge("the body has more than \(limit) bytes")
    }

    private func failure(_ error: GzipError) -> GatewayError {
        switch error {
        case .outputTooLarge: tooLarge(inflatedLimit)
        case .corrupt, .truncated:
            GatewayError(fault: .compressedBody, cause: error.code)
        case .outOfMemory: GatewayError(fault: .bodyMemory, cause: error.code)
        }
    }
}
