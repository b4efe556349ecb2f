// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import SyncEngine
import SyncModel

/// Runs an intake: what it hands over goes into the spool.
///
/// Belongs to one pull; nothing of it is shared until it is finished.
struct StreamSpooler {
    private var intake: StreamIntake
    private let spool: Spool
    private let runs: Spool
    /// Where each stored run begins, in bytes.
    private var runOffsets: [UInt64] = []

    init(projection: Projection, hashKey: SipHash.Key, intakeLimits: StreamIntake.Limits, spoolLimits: Spool.Limits) {
        intake = StreamIntake(projection: projection, hashKey: hashKey, limits: intakeLimits)
        spool = Spool(limits: spoolLimits)
        var runLimits = spoolLimits
        runLimits.memory = 0
        runs = Spool(limits: runLimits)
    }

    /// What came so far.
    var counts: StreamIntake.Counts { intake.counts }
    /// How many values became their column's default.
    var defaulted: Int { intake.defaulted }
    /// Lines that were set aside.
    var quarantined: [QuarantinedLine] { intake.quarantined }
    /// Whether the complete or reset line has come.
    var isEnded: Bool { intake.end != nil }

    /// Prepares for the first byte of a stream request.
    mutating func beginRequest() { intake.beginRequest() }

    /// What became of the request.
    func report() -> StreamReport { intake.report() }

    /// Takes the next bytes of the stream.
    mutating func take(_ buffer: ByteBuffer) async throws {
        try buffer.withUnsafeReadableBytes { bytes throws(StreamIntake.Failure) in try intake.feed(bytes) }
        while let chunk = intake.nextFullChunk(offset: spool.length) { try await spool.append(chunk) }
        if let run = intake.nextFullRun() {
            runOffsets.append(runs.length)
            try await runs.append(run.withUnsafeBytes { Array($0) })
        }
    }

    /// Puts the rest into the spool and finds what is superseded.
    mutating func finish() async throws -> FinishedSpool {
        while let chunk = intake.nextRestChunk(offset: spool.length) { try await spool.append(chunk) }
        let (runs, offsets) = (runs, runOffsets)
        let (segments, compaction) = try await intake.finish { run, first, count in
            let stride = MemoryLayout<CompactionEntry>.stride
            var bytes: [UInt8] = []
            var offset = offsets[run] + UInt64(first * stride)
            while bytes.count < count * stride {
                let piece = try await runs.read(at: offset, upTo: count * stride - bytes.count)
                bytes += piece
                offset += UInt64(piece.count)
            }
            // The bytes were written from entries of this very process, to a file that has no name.
            return bytes.withUnsafeBytes { Array($0.bindMemory(to: CompactionEntry.self)) }
        }
        return FinishedSpool(spool: spool, segments: segments, compaction: compaction)
    }
}
