// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Gzip
package import NIOCore

/// Reads the body of a sync request into memory, decompressed, within its limits.
///
/// A small body is read before its caller is known, and takes its memory from a separate budget until it is whole.
/// Strangers therefore hold nothing of `[limits] push_memory` except small, whole bodies while the backend checks their
/// credentials.
package struct BodyCollector: Sendable {
    /// The most bytes of a body, decompressed or not, while its caller is unknown.
    static let smallLimit = 64 * 1_024
    /// The memory for all small bodies that are still arriving; if it is used up, callers are checked first.
    private let strangers = ByteBudget(limit: 16 << 20)
    /// The most bytes as received.
    package var limit: Int
    /// The most bytes after decompression.
    package var inflatedLimit: Int

    /// Creates a collector with these limits.
    package init(limit: Int, inflatedLimit: Int) {
        self.limit = limit
        self.inflatedLimit = inflatedLimit
    }

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - announced: Its `Content-Length`, if it has one.
    ///   - coding: Its `Content-Encoding` field.
    ///   - lease: Provides the memory.
    ///   - admit: Checks that the caller may send more than a small body; called at most once.
    ///   - next: Returns the next piece; nil at the end.
    /// - Returns: The body, decompressed.
    /// - Throws: `request.body_too_large` (413), also for more than the lease can ever hold, `request.encoding` (415),
    ///   `request.compressed_body` (400), `limit.bodies` (503), and the errors of `admit` and `next`.
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

    /// A body and the memory taken for it.
    private struct Room {
        private var body: [UInt8] = []
        /// The largest possible size of the body.
        private let most: Int
        private var paid = 0
        private let lease: ByteLease
        /// The lease until the caller is admitted or the body is whole; then nil.
        private var small: ByteLease?

        init(most: Int, _ lease: ByteLease, _ small: ByteLease) {
            self.most = most
            self.lease = lease
            self.small = small
        }

        /// Adds a piece, with memory that doubles as the body arrives, up to its largest possible size.
        ///
        /// Bytes that a client announces and never sends take no memory.
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

        /// Admits the caller, and moves the body to the caller's lease.
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
