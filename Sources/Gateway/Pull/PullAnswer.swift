// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Logging
import SyncModel
import Telemetry
import WatermelonWire

/// A committed pull, which the client may see now.
package struct PullAnswer: Sendable {
    /// The figures of the pull.
    package let figures: SyncFigures
    /// The body's type.
    package var contentType: String { AnswerWriter.contentType }

    let cursor: Cursor
    let strategy: AnswerWriter.Strategy
    /// The tables that the client has, each with its index in the schema.
    let tables: [(index: Int, name: String)]
    /// The records of the answer; nil if nothing has changed.
    let spool: FinishedSpool?
    /// The memory for sending the answer, held until it is sent.
    let room: SpoolLease?
    let writer: AnswerWriter

    let logger: Logger

    /// Hands the body over, piece by piece.
    ///
    /// - Throws: The errors of `sink`, and ``SpoolError`` if the spool cannot be read: the connection must then be cut,
    ///   never ended cleanly.
    package func write(to sink: some AnswerSink) async throws {
        var body = Body(sink: sink, pending: writer.opening)
        var sender = spool.map { AnswerSender($0, to: sink, room: room, logger: logger) }
        for (index, table) in tables.enumerated() {
            body.pending += writer.tableOpening(table.name, isFirst: index == 0)
            try await write(.created, of: table, through: &body, pacedBy: &sender)
            body.pending += AnswerWriter.updatedOpening
            try await write(.updated, of: table, through: &body, pacedBy: &sender)
            body.pending += AnswerWriter.deletedOpening
            if !strategy.replaces(table.name) {
                try await write(.deleted, of: table, through: &body, pacedBy: &sender)
            }
            body.pending += AnswerWriter.tableClosing
        }
        body.pending += writer.closing(cursor: cursor, strategy: strategy)
        try await sink.write(body.pending)
    }

    private func write<Sink>(
        _ array: AnswerArray, of table: (index: Int, name: String), through body: inout Body<Sink>,
        pacedBy sender: inout AnswerSender<Sink>?
    ) async throws {
        guard let spool else { return }
        let count = spool.count(of: table.index, array: array)
        guard count > 0 else { return }
        var bytes = 0
        defer {
            let figures =
                array == .deleted
                ? SyncTrace.TableFigures(deletions: count) : SyncTrace.TableFigures(rows: count, bytes: bytes)
            SyncTrace.note { $0.tables[table.name, default: .init()].add(figures) }
        }
        try await spool.forEachPiece(of: table.index, array: array) { offset in
            try await sender?.prepareToRead(at: offset) ?? SendingPace.firstPiece
        } _: { piece in
            bytes += piece.count
            try await body.send(piece)
        }
    }

    /// The body on its way: small pieces are gathered, large ones are sent without a copy.
    private struct Body<Sink: AnswerSink> {
        let sink: Sink
        /// The bytes that are gathered.
        var pending: [UInt8]

        mutating func send(_ piece: [UInt8]) async throws {
            if piece.count < 16 * 1_024 {
                pending += piece
                if pending.count < 32 * 1_024 { return }
            }
            if !pending.isEmpty { try await sink.write(pending) }
            pending.removeAll(keepingCapacity: true)
            if piece.count >= 16 * 1_024 { try await sink.write(piece) }
        }
    }
}
