// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Reads a short body ahead of the connection that will carry it, and reports if all of it came in time.
struct ShortBody: Sendable {
    /// The longest announced length, in bytes.
    static let limit = 16 * 1024
    /// The time for all of a body to come; a body that takes longer is sent as it arrives.
    static let patience = Duration.seconds(1)

    /// The pieces that have come; at most ``limit`` bytes, because the decoder reads no more than was announced.
    let pieces: AsyncThrowingStream<ByteBuffer, any Error>
    private let arrived: AsyncThrowingStream<ByteBuffer, any Error>.Continuation
    private let verdicts: AsyncStream<Bool>
    private let verdict: AsyncStream<Bool>.Continuation

    /// Creates a body of which nothing has been read.
    init() {
        (pieces, arrived) = AsyncThrowingStream.makeStream()
        (verdicts, verdict) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Reads all of the request's body; an error is passed on with the pieces.
    func read(from parts: RequestParts) async {
        do {
            while let piece = try await parts.nextBody() { arrived.yield(piece) }
            arrived.finish()
        } catch {
            arrived.finish(throwing: error)
        }
        verdict.yield(true)
    }

    /// Ends the wait of ``isWhole`` when the time for the body is over.
    func limitWait() async {
        try? await Task.sleep(for: Self.patience)
        verdict.yield(false)
    }

    /// Waits for the end of the body; true if it came in time, false if it is still to come.
    var isWhole: Bool {
        get async {
            for await isWhole in verdicts { return isWhole }
            return false
        }
    }
}
