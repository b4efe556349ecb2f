// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import NIOCore
import SyncModel

/// Runs an intake and puts its output into the spool.
///
/// Belongs to one pull, and is not shared until it is finished.
struct StreamSpooler: Sendable {
    private var intake: StreamIntake
    /// The spool of all lines of the answer.
    let spool: Spool
    private let runs: Spool
    /// Makes a lease of the budget for the pulling principal.
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

    /// The counts of what was received so far.
    var counts: StreamIntake.Counts { intake.counts }
    /// Returns the values that could not be taken as they came.
    func values(of schema: Schema) -> PulledValues {
        PulledValues(intake.columnFaults, intake.unreadable, schema: schema)
    }
    /// The quarantined lines.
    var quarantined: [QuarantinedLine] { intake.quarantined }
    /// The flaws of the lines so far.
    var flaws: StreamFlaws { intake.flaws }
    /// The mappings in the stream's lines about backend-assigned ids.
    var idMappings: [IDMapping] { intake.idMappings }
    /// The signs in the stream other than its records.
    var signs: StreamSigns { intake.signs }
    /// True if the complete or reset line has been received.
    var isEnded: Bool { intake.end != nil }

    /// Prepares for the first byte of a stream request.
    mutating func beginRequest() { intake.beginRequest() }

    /// Ends a request whose answer has no complete line, and returns the way in which it ended.
    mutating func finishRequest() -> StreamIntake.BrokenEnd { intake.finishRequest() }

    /// Returns the result of the request.
    func report() -> StreamReport { intake.report() }

    /// Takes the next bytes of the stream.
    mutating func take(_ buffer: ByteBuffer) async throws {
        try buffer.withUnsafeReadableBytes { bytes throws(StreamIntake.Failure) in try intake.feed(bytes) }
        try await storeFullChunks()
        while let piece = intake.nextRunPiece() { try await runs.append(piece) }
    }

    /// Adds a deletion of one of the client's records.
    mutating func delete(_ id: String, table: Int) throws(StreamIntake.Failure) { try intake.delete(id, table: table) }

    /// Returns a reader of all lines so far, by record; more lines may be taken afterwards.
    mutating func reader() -> DeduplicationReader {
        intake.reader { [runs] offset, count in
            var bytes = try await runs.read(at: offset, upTo: count)
            while bytes.count < count {
                bytes += try await runs.read(at: offset + UInt64(bytes.count), upTo: count - bytes.count)
            }
            return bytes
        }
    }

    /// The verdicts on all lines so far: no line goes out yet.
    var verdicts: [LineVerdicts] { intake.verdicts }

    /// Puts full chunks into the spool; to be called now and then between deletions.
    mutating func storeFullChunks() async throws(SpoolError) {
        while let chunk = intake.nextFullChunk(offset: spool.length) { try await spool.append(chunk) }
    }

    /// The bytes of memory in use, besides the files.
    var byteCount: Int { intake.byteCount }

    /// Frees memory that only further lines would need; they may come nevertheless.
    mutating func compact() { intake.compact() }

    /// Prepares a copy of an earlier pull's spooler, whose files had this length, for the lines of another pull.
    ///
    /// Lines that failed pulls have appended since are cut off; the lines before them may be in use by a reader.
    mutating func takeUp(at length: SpoolLength) async throws(SpoolError) {
        intake.forgetQuarantined()
        try await cut(to: length)
    }

    /// True if no line has come that says anything about a record.
    var isEmpty: Bool { counts.rows == 0 && counts.quarantined == 0 && counts.idMappings == 0 }

    /// The lengths of the files.
    var length: SpoolLength { SpoolLength(lines: spool.length, runs: runs.length) }

    /// Cuts off what was appended to the files since this copy was made, when they had this length.
    func cut(to length: SpoolLength) async throws(SpoolError) {
        try await spool.cut(to: length.lines)
        try await runs.cut(to: length.runs)
    }

    /// Puts the rest into the spool; no lines may be taken afterwards.
    ///
    /// - Parameters:
    ///   - diffed: The verdicts on the lines.
    ///   - absences: The positions of the deletions that no line has named, by the table's index.
    /// - Returns: The spool that answers are written from.
    /// - Throws: The errors of the spool and its file.
    mutating func finish(_ diffed: DiffedLines, absences: [SegmentIndex]) async throws(SpoolError) -> FinishedSpool {
        while let chunk = intake.nextRestChunk(offset: spool.length) { try await spool.append(chunk) }
        try await spool.flush()
        var segments = intake.segments()
        for (table, index) in absences.enumerated() { segments[SegmentKey(table: table, part: .absences)] = index }
        let room = lease()
        guard room.takeMemory(diffed.verdicts.reduce(0) { $0 + $1.byteCount }) else { throw .exhausted }
        return FinishedSpool(spool: spool, segments: segments, diffed: diffed, room: room, length: spool.length)
    }
}

/// The lengths of a spooler's files at one moment.
struct SpoolLength: Sendable {
    let lines: UInt64
    let runs: UInt64
}
