// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import NIOCore
import SyncModel

/// Runs an intake: what it hands over goes into the spool.
///
/// Belongs to one pull; nothing of it is shared until it is finished.
struct StreamSpooler: Sendable {
    private var intake: StreamIntake
    /// Where everything that goes out is put.
    let spool: Spool
    private let runs: Spool
    /// Makes a lease of the budget for the one who pulls.
    private let lease: @Sendable () -> SpoolLease

    init(
        projection: Projection, hashKey: SipHash.Key, intakeLimits: StreamIntake.Limits, spoolLimits: Spool.Limits,
        lease: @escaping @Sendable () -> SpoolLease, ledgered: Set<Int> = [], added: [String: Set<String>] = [:],
        aliases: IDAliases? = nil
    ) {
        intake = StreamIntake(
            projection: projection, hashKey: hashKey, limits: intakeLimits, ledgered: ledgered, added: added,
            aliases: aliases)
        self.lease = lease
        spool = Spool(limits: spoolLimits, lease: lease())
        var runLimits = spoolLimits
        runLimits.memory = 0
        runs = Spool(limits: runLimits, lease: lease())
    }

    /// What came so far.
    var counts: StreamIntake.Counts { intake.counts }
    /// How many values became their column's default.
    var defaulted: Int { intake.defaulted }
    /// Lines that were set aside.
    var quarantined: [QuarantinedLine] { intake.quarantined }
    /// What is wrong with lines that came.
    var flaws: StreamFlaws { intake.flaws }
    /// What lines about ids that the backend has given said.
    var idMappings: [IDMapping] { intake.idMappings }
    /// What the stream said beside its records.
    var signs: StreamSigns { intake.signs }
    /// Whether the complete or reset line has come.
    var isEnded: Bool { intake.end != nil }

    /// Prepares for the first byte of a stream request.
    mutating func beginRequest() { intake.beginRequest() }

    /// How the answer to a request ended that has no complete line.
    mutating func finishRequest() -> StreamIntake.BrokenEnd { intake.finishRequest() }

    /// What became of the request.
    func report() -> StreamReport { intake.report() }

    /// Takes the next bytes of the stream.
    mutating func take(_ buffer: ByteBuffer) async throws {
        try buffer.withUnsafeReadableBytes { bytes throws(StreamIntake.Failure) in try intake.feed(bytes) }
        try await storeFullChunks()
        while let piece = intake.nextRunPiece() { try await runs.append(piece) }
    }

    /// Says that a record of the client is gone.
    mutating func delete(_ id: String, table: Int) throws(StreamIntake.Failure) { try intake.delete(id, table: table) }

    /// Reads all lines that came so far by record; more may be taken afterwards.
    mutating func reader() -> DeduplicationReader {
        intake.reader { [runs] offset, count in
            var bytes = try await runs.read(at: offset, upTo: count)
            while bytes.count < count {
                bytes += try await runs.read(at: offset + UInt64(bytes.count), upTo: count - bytes.count)
            }
            return bytes
        }
    }

    /// Verdicts on all lines that came so far: nothing goes anywhere yet.
    var verdicts: [LineVerdicts] { intake.verdicts }

    /// Puts what is full into the spool; to be called now and then between deletions.
    mutating func storeFullChunks() async throws(SpoolError) {
        while let chunk = intake.nextFullChunk(offset: spool.length) { try await spool.append(chunk) }
    }

    /// How many bytes of memory it holds beside its files.
    var byteCount: Int { intake.byteCount }

    /// Prepares it, as a copy of what an earlier pull had when its files had this length, for the lines of another.
    ///
    /// What pulls have put behind it since that came to nothing is cut off; before it, somebody may be reading.
    mutating func takeUp(at length: SpoolLength) async throws(SpoolError) {
        intake.forgetQuarantined()
        try await cut(to: length)
    }

    /// How much is in the files.
    var length: SpoolLength { SpoolLength(lines: spool.length, runs: runs.length) }

    /// Forgets what was put into the files since; for a copy that was made when they had this length.
    func cut(to length: SpoolLength) async throws(SpoolError) {
        try await spool.cut(to: length.lines)
        try await runs.cut(to: length.runs)
    }

    /// Puts the rest into the spool; no line may come any more.
    ///
    /// - Parameters:
    ///   - diffed: What has become of the lines.
    ///   - absences: Where the deletions lie that no line has named, by the table's place.
    /// - Returns: The spool that answers are written from.
    /// - Throws: What the spool's file fails with.
    mutating func finish(_ diffed: DiffedLines, absences: [SegmentIndex]) async throws(SpoolError) -> FinishedSpool {
        while let chunk = intake.nextRestChunk(offset: spool.length) { try await spool.append(chunk) }
        try await spool.flush()
        var segments = intake.segments()
        for (table, index) in absences.enumerated() { segments[SegmentKey(table: table, part: .absences)] = index }
        let room = lease()
        guard room.takeMemory(diffed.verdicts.reduce(0) { $0 + $1.byteCount }) else { throw .exhausted }
        return FinishedSpool(spool: spool, segments: segments, diffed: diffed, room: room)
    }
}

/// How much a spooler had put into its files at a moment.
struct SpoolLength: Sendable {
    let lines: UInt64
    let runs: UInt64
}
