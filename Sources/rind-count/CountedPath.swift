// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import JSONBytes
import Ledger
import LineProjection
import SyncModel

/// The byte path of a first sync in memory, as far as a stage.
struct CountedPath {
    /// The end of the part of the path that is gone.
    enum Stage: String, CaseIterable {
        /// Lines are split and become records.
        case projection
        /// The same for lines whose values are in other spellings than their columns'.
        case conversion
        /// Records are gathered, de-duplicated, compared with an empty ledger and put into a new one.
        case answer
    }

    private static let key = SipHash.Key(1, 2)
    /// The size of the chunks that the stream comes in.
    private static let chunkSize = 64 * 1_024

    private let stream = CountedStream.bytes()
    private let converted: [UInt8]
    private let projection = Projection(schema: CountedStream.schema, schemaVersion: 1)

    /// Takes the stream once along the path and returns the number of records that came out.
    func run(to stage: Stage) async throws -> Int {
        switch stage {
        case .projection: project(stream)
        case .conversion: project(converted)
        case .answer: try await answer()
        }
    }

    init(_ stage: Stage) { converted = stage == .conversion ? CountedStream.bytes(isConverted: true) : [] }

    private func forEachChunk(
        of stream: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        try stream.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Self.chunkSize) {
                try body(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.chunkSize, bytes.count)]))
            }
        }
    }

    private func project(_ stream: [UInt8]) -> Int {
        var splitter = LineSplitter(maximumLength: 1 << 20)
        var projector = LineProjector(projection, key: Self.key)
        var output = JSONWriter(capacity: 16 * 1_024)
        var records = 0
        forEachChunk(of: stream) { chunk in
            splitter.feed(chunk) { event in
                guard case .line(let line) = event else { return }
                output.removeAll()
                if case .upsert = projector.project(line, into: &output) { records += 1 }
            }
        }
        return records
    }

    private func answer() async throws -> Int {
        var intake = StreamIntake(
            projection: projection, hashKey: Self.key, limits: StreamIntake.Limits(), ledgered: [0])
        var length: UInt64 = 0
        var runs: [UInt8] = []
        intake.beginRequest()
        try forEachChunk(of: stream) { chunk in
            try intake.feed(chunk)
            while let full = intake.nextFullChunk(offset: length) { length += UInt64(full.count) }
            while let piece = intake.nextRunPiece() { runs += piece }
        }
        while let rest = intake.nextRestChunk(offset: length) { length += UInt64(rest.count) }
        let schema = projection.schema
        var reader = intake.reader { [runs] offset, count in Array(runs[Int(offset)..<Int(offset) + count]) }
        var diff = LedgerDiff(
            LedgerDiffInput(
                plan: LedgerDiffPlan(), schema: schema, schemaVersion: 1, order: projection.tableOrder,
                types: LedgeredType.all(in: schema.tables, at: 1, digests: [:]), source: EmptyLedger(), key: Self.key),
            verdicts: intake.verdicts)
        var ledgered = 0
        try await diff.run(
            &reader,
            LedgerDiff.Sinks(
                store: { chunks in ledgered += chunks.reduce(0) { $0 + $1.entries } }, spool: { _ in },
                spoolLength: { 0 }))
        let created = diff.diffed.verdicts.reduce(0) { $0 + $1.created.count }
        return min(created, ledgered)
    }
}

/// The ledger of a device that has nothing yet.
private struct EmptyLedger: LedgerSource {
    func chunk(holding id: IDHash, in table: String, of layer: LedgerLayer) async throws -> NumberedChunk? { nil }

    func chunks(after first: IDHash?, in table: String, of layer: LedgerLayer, limit: Int) async throws
        -> [NumberedChunk]
    { [] }
}
