// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
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

    /// Hands the body over, piece by piece.
    ///
    /// - Throws: The errors of `sink`, and ``SpoolError`` if the spool cannot be read: the connection must then be cut,
    ///   never ended cleanly.
    package func write(to sink: ([UInt8]) async throws -> Void) async throws {
        var pending = writer.opening
        for (index, table) in tables.enumerated() {
            pending += writer.tableOpening(table.name, isFirst: index == 0)
            try await write(.created, of: table, after: &pending, to: sink)
            pending += AnswerWriter.updatedOpening
            try await write(.updated, of: table, after: &pending, to: sink)
            pending += AnswerWriter.deletedOpening
            if !strategy.replaces(table.name) { try await write(.deleted, of: table, after: &pending, to: sink) }
            pending += AnswerWriter.tableClosing
        }
        pending += writer.closing(cursor: cursor, strategy: strategy)
        try await sink(pending)
    }

    private func write(
        _ array: AnswerArray, of table: (index: Int, name: String), after pending: inout [UInt8],
        to sink: ([UInt8]) async throws -> Void
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
        try await spool.forEachPiece(of: table.index, array: array) { piece in
            bytes += piece.count
            // Small pieces are gathered; large ones are sent without a copy.
            if piece.count < 16 * 1_024 {
                pending += piece
                if pending.count < 64 * 1_024 { return }
            }
            if !pending.isEmpty { try await sink(pending) }
            pending.removeAll(keepingCapacity: true)
            if piece.count >= 16 * 1_024 { try await sink(piece) }
        }
    }
}
