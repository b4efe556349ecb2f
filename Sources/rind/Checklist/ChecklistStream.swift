// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import JSONBytes
import LineProjection
import NIOCore
import SyncModel

/// The lines of one stream, read as the gateway reads them.
struct ChecklistStream {
    /// One line.
    struct Line: Hashable {
        var type: String
        var checkpoint: Checkpoint
        /// The table of the record that the line brings or deletes; nil if it does neither.
        var table: Int?
        var isDeletion = false
        /// The record as the app would get it, or the deleted record's id as JSON.
        var content: [UInt8] = []

        /// The id of the record; nil if the line has none.
        var recordID: String? {
            let value = try? JSONValue.parse(content)
            return isDeletion ? value?.string : value?["id"]?.string
        }
    }

    /// The most lines that are read: a test account should have less.
    static let maximumLines = 20_000

    private(set) var lines: [Line] = []
    /// The complete line's token; nil until it has come.
    private(set) var completeToken: String?
    /// The reason why the stream could not be read as a whole; nil if there is none.
    private(set) var fault: String?
    /// The token of a reset, which the backend demands instead of a stream; nil if none came.
    private(set) var resetToken: Checkpoint?

    private var projector: LineProjector

    /// Reads a stream to its end, or until so many lines have come.
    init(
        _ stream: BackendStream, _ configuration: Configuration, upTo count: Int = .max
    ) async throws(BackendError) {
        let schema = configuration.schema
        projector = LineProjector(
            Projection(schema: schema, schemaVersion: schema.version, rules: configuration.envelopeRules),
            key: SipHash.Key(0, 0))
        projector.needsContent = false
        var splitter = LineSplitter(maximumLength: configuration.pull.maxLine)
        var iterator = stream.makeAsyncIterator()
        while fault == nil, lines.count < count, let chunk = try await iterator.next() {
            chunk.withUnsafeReadableBytes { splitter.feed($0) { take($0, upTo: count) } }
            if splitter.isBeyondLimit { fault = fault ?? Self.tooLong }
        }
        guard fault == nil, lines.count < count else { return }
        if completeToken == nil { fault = "the stream ends without a complete line, after \(lines.count) lines" }
    }

    /// The lines that bring or delete records.
    var records: [Line] { lines.filter { $0.table != nil } }

    /// Returns the lines of records of which another stream has none.
    func records(unknownTo other: ChecklistStream?) -> [Line] {
        let known = Set((other?.records ?? []).map { [$0.table.map(String.init), $0.recordID] })
        return records.filter { !known.contains([$0.table.map(String.init), $0.recordID]) }
    }

    /// Returns the ids of the records of a table that came.
    func ids(of table: Int) -> Set<String> {
        Set(records.filter { $0.table == table && !$0.isDeletion }.compactMap(\.recordID))
    }

    /// The first lines as one says them: their number and types.
    var summary: String {
        let types = lines.prefix(5).map { $0.type.shown(upTo: 60) }.joined(separator: ", ")
        return lines.isEmpty ? "no line" : "\(lines.count) \(lines.count == 1 ? "line" : "lines") (\(types))"
    }

    private static let tooLong = "a line is longer than [pull] max_line"

    private mutating func take(_ event: LineSplitter.Event, upTo count: Int) {
        guard fault == nil, lines.count < count else { return }
        switch event {
        case .line(let line): read(line)
        case .tooLong: fault = Self.tooLong
        }
        if lines.count > Self.maximumLines {
            fault = "the account has more than \(Self.maximumLines) lines: use a smaller one"
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var output = JSONWriter()
        let result = projector.project(bytes, into: &output)
        if result == .reset {
            fault = "the backend demands a reset: sign in anew"
            resetToken = projector.resetToken.map { Checkpoint(token: $0, lineType: projector.lastType ?? "") }
            return
        }
        guard let type = projector.lastType, let checkpoint = projector.lastCheckpoint else {
            fault = "line \(lines.count + 1) has no type or no token"
            return
        }
        var line = Line(type: type, checkpoint: checkpoint)
        switch result {
        case .upsert(let table, _, _, let range):
            line.table = table
            line.content = Array(output.bytes[range])
        case .delete(let table, _, _, _, let range):
            (line.table, line.isDeletion) = (table, true)
            line.content = Array(output.bytes[range])
        case .complete: completeToken = checkpoint.token
        case .deleteWhere, .ackOnly, .idMapping, .unknownType, .reset, .quarantined: break
        }
        lines.append(line)
    }
}
