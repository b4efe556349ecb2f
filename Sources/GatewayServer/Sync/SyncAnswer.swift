// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Gzip
import HTTPTypes
import NIOCore

/// Sends the answer to a sync request: compressed if the client wants that, with its length if it is short.
///
/// It belongs to the task that serves the request.
final class SyncAnswer: AnswerSink {
    /// The most bytes that are held back, to be sent with their length.
    private static let shortLimit = 64 * 1_024
    /// The least bytes for which compression is worthwhile.
    private static let compressedMinimum = 1_024
    /// The fast level: the bytes are many, JSON compresses well, and phones wait.
    private static let level = 1

    private let stream: AnswerStream
    private let status: Int
    private let fields: HTTPFields
    private let wantsGzip: Bool
    private var deflater: Deflater?
    private var held = ByteBuffer()

    init(_ stream: AnswerStream, status: Int, contentType: String, acceptEncoding: String?) {
        self.stream = stream
        self.status = status
        wantsGzip = ContentCoding.acceptsGzip(acceptEncoding)
        var fields = HTTPFields()
        fields[.contentType] = contentType
        fields[.cacheControl] = "no-store"
        fields[.accelBuffering] = "no"
        fields[.vary] = "Accept-Encoding"
        fields[.xContentTypeOptions] = "nosniff"
        self.fields = fields
    }

    /// Sends a space, which JSON allows before its value, and the head before the first one.
    func sendSpace() async throws {
        if !stream.hasBegun { try await begin() }
        guard let deflater else { return try await stream.write(ByteBuffer(string: " ")) }
        var output = ByteBuffer()
        try deflater.write(ByteBuffer(string: " "), into: &output)
        try deflater.flush(into: &output)
        try await stream.write(output)
    }

    var isCompressed: Bool { wantsGzip }

    func waitForRoom(for patience: Duration?) async throws -> Bool {
        // As long as everything is held back, nothing waits for the client.
        guard stream.hasBegun else { return true }
        return try await stream.waitForRoom(for: patience)
    }

    /// Sends a piece of the body, or holds it back.
    func write(_ piece: [UInt8]) async throws {
        if stream.hasBegun { return try await send(ByteBuffer(bytes: piece)) }
        held.writeBytes(piece)
        guard held.readableBytes > Self.shortLimit else { return }
        try await begin()
        try await send(held)
        held = ByteBuffer()
    }

    /// Ends the body.
    func finish() async throws {
        guard stream.hasBegun else { return try await sendShort() }
        if let deflater {
            var output = ByteBuffer()
            try deflater.finish(into: &output)
            try await stream.write(output)
        }
        try await stream.finish()
    }

    private func begin() async throws {
        var fields = fields
        if wantsGzip {
            deflater = try Deflater(level: Self.level)
            fields[.contentEncoding] = "gzip"
        }
        try await stream.begin(status, fields, length: nil)
    }

    private func send(_ piece: ByteBuffer) async throws {
        guard let deflater else { return try await stream.write(piece) }
        var output = ByteBuffer()
        try deflater.write(piece, into: &output)
        try await stream.write(output)
    }

    private func sendShort() async throws {
        var fields = fields
        if wantsGzip, held.readableBytes >= Self.compressedMinimum {
            held = try Deflater.compress(held, level: Self.level)
            fields[.contentEncoding] = "gzip"
        }
        try await stream.send(status, fields, body: held)
    }
}
