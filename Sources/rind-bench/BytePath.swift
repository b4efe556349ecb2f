// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Deduplication
import Foundation
import GatewayConfig
import JSONBytes
import Ledger
import LineProjection
import NIOCore
import SyncModel

/// Measures the path of the bytes through one core, stage by stage.
///
/// Question: how fast is the gateway without sockets and files, and what does each stage add?
///
/// N: the stream of ``FirstSync``, in chunks of 64 KiB as they come from libcurl. Expected: a plain pass of this kind
/// reaches 1.7 to 1.9 GB/s.
struct BytePath: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "BytePath", abstract: "Lines, projection and de-duplication over a stream in memory.")

    @Option(help: "How many rows the stream has.")
    var rows: Int?

    @Option(help: "How often each stage is measured.")
    var runs: Int?

    @Flag(help: "A small stream and two runs, to see that everything works.")
    var quick = false

    @Flag(help: "Prints JSON to standard output, and the table to standard error.")
    var json = false

    /// The figures that were measured.
    struct Figures: Report, Codable {
        /// One stage, measured together with everything before it.
        struct Stage: Codable {
            var name: String
            /// The processor time, which means more than the wall time on a busy machine.
            var processorSeconds: [Double]
            var wallSeconds: [Double]
        }

        var scenario = "BytePath"
        var rows: Int
        var bytes: Int
        var machine: Machine
        var stages: [Stage]
    }

    /// Measures time from its creation on.
    private struct Watch {
        let wall = ContinuousClock.now
        let processor = Watch.processorSeconds

        func note(_ stage: inout Figures.Stage) {
            stage.processorSeconds.append(Watch.processorSeconds - processor)
            stage.wallSeconds.append(wall.duration(to: .now) / .seconds(1))
        }

        /// The processor time of the whole process, in which nothing else runs.
        private static var processorSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
    }

    private static let chunkSize = 64 * 1024
    private static let key = SipHash.Key(1, 2)

    mutating func validate() throws {
        guard (rows ?? 1) > 0, (runs ?? 1) > 0 else { throw ValidationError("--rows and --runs begin at 1") }
    }

    func measure(in directory: URL) async throws -> Figures {
        let rows = rows ?? (quick ? 5_000 : 300_000)
        let stream = AssetStream(rows: rows).bytes()
        let projection = try makeProjection()
        var report = Figures(
            rows: rows, bytes: stream.readableBytes, machine: .current,
            stages: ["lines", "+ projection", "+ segments", "+ de-duplication"].map {
                Figures.Stage(name: $0, processorSeconds: [], wallSeconds: [])
            })
        for _ in 0..<(runs ?? (quick ? 2 : 7)) {
            try check(measure(&report.stages[0]) { splitLines(stream) }, is: rows + 1, "lines")
            try check(measure(&report.stages[1]) { project(stream, projection) }, is: rows, "records")
            try check(try measure(&report.stages[2]) { try intake(stream, projection).counts.rows }, is: rows, "rows")
            try check(try await measureIntake(of: stream, projection, stage: &report.stages[3]), is: rows, "records")
        }
        return report
    }

    private func makeProjection() throws -> Projection {
        let text = """
            [identity]
            principal = backend:GET /users/me id
            key = 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
            [backend]
            url = http://127.0.0.1:1

            """
        let schema = try Configuration.load(text + AssetStream.schema).schema
        return Projection(schema: schema, schemaVersion: schema.version)
    }

    private func check(_ found: Int, is expected: Int, _ what: String) throws {
        guard found == expected else {
            throw ValidationError("the path came to \(found) \(what) instead of \(expected)")
        }
    }

    private func measure(_ stage: inout Figures.Stage, _ body: () throws -> Int) rethrows -> Int {
        let watch = Watch()
        let result = try body()
        watch.note(&stage)
        return result
    }

    private func forEachChunk(_ stream: ByteBuffer, _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try stream.withUnsafeReadableBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let end = min(offset + Self.chunkSize, bytes.count)
                try body(UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
                offset = end
            }
        }
    }

    private func splitLines(_ stream: ByteBuffer) -> Int {
        var splitter = LineSplitter(maximumLength: 1 << 20)
        var lines = 0
        forEachChunk(stream) { chunk in splitter.feed(chunk) { _ in lines += 1 } }
        return lines
    }

    private func project(_ stream: ByteBuffer, _ projection: Projection) -> Int {
        var splitter = LineSplitter(maximumLength: 1 << 20)
        var projector = LineProjector(projection, key: Self.key)
        var output = JSONWriter(capacity: 16 * 1_024)
        var records = 0
        forEachChunk(stream) { chunk in
            splitter.feed(chunk) { event in
                guard case .line(let line) = event else { return }
                output.removeAll()
                if case .upsert = projector.project(line, into: &output) { records += 1 }
            }
        }
        return records
    }

    /// Runs everything except the spool: `store` gets the full chunks, and drops them by default.
    private func intake(
        _ stream: ByteBuffer, _ projection: Projection, storing store: ([UInt8]) -> Void = { _ in }
    ) throws -> StreamIntake {
        var intake = StreamIntake(projection: projection, hashKey: Self.key, limits: StreamIntake.Limits())
        var length: UInt64 = 0
        intake.beginRequest()
        try forEachChunk(stream) { chunk in
            try intake.feed(chunk)
            while let full = intake.nextFullChunk(offset: length) { length += UInt64(full.count) }
            while let piece = intake.nextRunPiece() { store(piece) }
        }
        while let rest = intake.nextRestChunk(offset: length) { length += UInt64(rest.count) }
        return intake
    }

    private func measureIntake(
        of stream: ByteBuffer, _ projection: Projection, stage: inout Figures.Stage
    ) async throws -> Int {
        let watch = Watch()
        var runs: [UInt8] = []
        var intake = try intake(stream, projection) { runs += $0 }
        var reader = intake.reader { [runs] offset, count in Array(runs[Int(offset)..<Int(offset) + count]) }
        var diff = LedgerDiff(
            LedgerDiffInput(
                plan: LedgerDiffPlan(), schema: projection.schema, schemaVersion: projection.schemaVersion,
                order: projection.tableOrder, types: [:], source: NoLedger(), key: Self.key),
            verdicts: intake.verdicts)
        try await diff.run(
            &reader, LedgerDiff.Sinks(store: { _ in }, spool: { _ in }, spoolLength: { 0 }))
        watch.note(&stage)
        return diff.diffed.verdicts.reduce(0) { $0 + $1.created.count }
    }
}

// The report for reading.
extension BytePath.Figures {
    /// The least speed of lines and projection on one core, in GB/s.
    private static let goal = 1.0

    /// The table, and its sentence.
    var text: String {
        let header = [
            ["", "CPU s", "", "", "GB/s", "wall s"], ["", "min", "median", "max", "median", "median"],
        ]
        let rows = stages.compactMap { stage -> [String]? in
            guard let processor = Spread(stage.processorSeconds), let wall = Spread(stage.wallSeconds) else {
                return nil
            }
            let speed = Double(bytes) / processor.median / 1e9
            return [stage.name] + processor.cells(3) + [Text.number(speed, 2), Text.number(wall.median, 3)]
        }
        let head = "BytePath: \(Text.grouped(self.rows)) rows, \(Text.number(Double(bytes) / 1e6, 1)) MB, one core"
        return ([head, machine.sentence, "", Text.table(header + rows), ""] + outcomes.map(\.sentence))
            .joined(separator: "\n")
    }

    /// The figure that has a goal.
    var outcomes: [Outcome] {
        let speeds = stages[1].processorSeconds.map { Double(bytes) / $0 / 1e9 }
        return [Outcome("lines + projection: GB/s of one core", Spread(speeds), goal: .atLeast(Self.goal))].compactMap(
            \.self)
    }
}

/// The ledger of a first sync, which is empty.
private struct NoLedger: LedgerSource {
    func chunk(holding id: IDHash, in table: String, of layer: LedgerLayer) async throws -> NumberedChunk? { nil }

    func chunks(after first: IDHash?, in table: String, of layer: LedgerLayer, limit: Int) async throws
        -> [NumberedChunk]
    { [] }
}
