// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging

/// Keeps the memory of an answer small while its client takes it slowly.
///
/// Nothing is read before the connection has room for it. What a client has not taken after a moment goes from memory
/// to the spool's file.
struct AnswerSender<Sink: AnswerSink> {
    private let sink: Sink
    private let spool: FinishedSpool
    /// The memory for sending.
    private let room: SpoolLease?
    private let logger: Logger
    /// The memory that small pieces take.
    private let memory: Int
    private var pace = SendingPace()
    private var hasMoved = false

    init(_ spool: FinishedSpool, to sink: Sink, room: SpoolLease?, logger: Logger) {
        self.spool = spool
        self.sink = sink
        self.room = room
        self.logger = logger
        memory = SendingPace.memory + (sink.isCompressed ? SendingPace.compressorMemory : 0)
        room?.keep(memory: memory, disk: 0)
    }

    /// Waits until the bytes at an offset of the spool may be read, and returns how many at once.
    mutating func prepareToRead(at offset: UInt64) async throws -> Int {
        let isPrompt = try await sink.waitForRoom(for: SendingPace.promptness)
        switch pace.waited(isPrompt: isPrompt) {
        case .stay: break
        case .grow: if room?.takeForLines(SendingPace.largePiecesMemory) == true { pace.grow() }
        case .shrink: room?.keep(memory: memory, disk: 0)
        }
        if !isPrompt { try await waitPatiently(at: offset) }
        return pace.pieceSize
    }

    private mutating func waitPatiently(at offset: UInt64) async throws {
        // Memory that nothing more is read from is not worth a file.
        let canMove = !hasMoved && spool.spool.isInMemory(offset)
        guard try await !sink.waitForRoom(for: canMove ? pace.patience : nil) else { return }
        hasMoved = true
        await move()
        _ = try await sink.waitForRoom(for: nil)
    }

    private func move() async {
        do {
            try await spool.moveToFile()
        } catch .cancelled {
            // The client has gone, which the next write finds out.
        } catch {
            logger.warning(
                "a slow client's answer stays in memory, since it cannot be moved to a file",
                metadata: ["code": "\(error.code)", "error": "\(error)"])
        }
    }
}
