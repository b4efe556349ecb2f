// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import LineProjection
package import SyncModel

/// Takes the bytes of stream requests and makes segments of them: lines ▶ projection ▶ de-duplication ▶ chunks.
///
/// One intake serves a pull from its first byte to the complete line, resumed streams included; after a reset a new one
/// begins. It holds chunks and a run of de-duplication entries, never the stream.
package struct StreamIntake: Sendable {
    /// What it may hold and let through.
    package struct Limits: Hashable, Sendable {
        /// The longest line in bytes; longer ones are quarantined.
        package var line = 8 << 20
        /// The most rows and deletions of one pull; 0 is no limit.
        package var rows = 0
        /// The most lines that bring no row: blank ones, of unknown types, acknowledgements, what is set aside.
        package var otherLines = 10_000_000
        /// How many bytes of a quarantined line are kept.
        package var quarantineBytes = 4_096
        /// How many bytes of all quarantined lines of a pull are kept; of those beyond it only what is known of them.
        package var quarantineTotal = 16 << 20
        /// How many quarantined lines are kept for the state; all are counted.
        package var quarantineLines = 256
        /// How many de-duplication entries are gathered before they are sorted and taken away.
        package var run = 262_144
        /// How many lines about ids are looked at in one pull; all are counted.
        package var idMappings = 10_000
        /// The default limits.
        package init() {}
    }

    /// Why the stream cannot be taken in any further.
    package enum Failure: String, Error, CaseIterable, Sendable {
        /// More rows than `[pull] max_rows`.
        case tooManyRows = "pull.too_many_rows"
        /// More lines that bring no row than any backend has a reason to send.
        case tooManyLines = "pull.too_many_lines"
    }

    /// How an answer ended that has no complete line.
    package struct BrokenEnd: Hashable, Sendable {
        /// How many lines came.
        package let lines: Int
        /// The type of the last one, as far as it could be read.
        package let lastType: String?
        /// How many bytes came behind the last line end.
        package let unfinishedBytes: Int
    }

    /// What came, counted.
    package struct Counts: Hashable, Sendable {
        /// Lines of any kind.
        package var lines = 0
        /// Records and deletions.
        package var rows = 0
        /// Lines that were set aside.
        package var quarantined = 0
        /// Lines of types that nobody has configured.
        package var unknownTypes = 0
        /// Deletions by another column than the id in tables without a ledger, which nobody can resolve.
        package var unresolvedDeletes = 0
        /// Lines about ids that the backend has given.
        package var idMappings = 0
        /// Bytes after decompression.
        package var bytes = 0
        /// Nothing yet.
        package init() {}
    }

    private let limits: Limits
    private var splitter: LineSplitter
    private var projector: LineProjector
    private var output = JSONWriter(capacity: 16 * 1_024)
    private var records: [SegmentWriter]
    private var deletions: [SegmentWriter]
    /// By the table's place: its rank, and whether id and links of its records are kept for the ledger.
    private let ranks: [UInt16]
    private let isLedgered: [Bool]
    private var deduplicator: Deduplicator
    private var failure: Failure?
    private var blankLines = 0

    /// What came so far.
    package private(set) var counts = Counts()
    /// Lines that were set aside, as many as the limits allow.
    package private(set) var quarantined: [QuarantinedLine] = []
    /// The complete or reset line, once it has come; everything after it is ignored.
    package private(set) var end: StreamReport.End?
    private var collected = StreamSigns()
    /// The base names of the types that bring rows, with the places of their tables.
    private let baseNames: [(baseName: Substring, table: Int)]
    /// Whether any line came in this request that was neither the complete line nor ack-only.
    private var carriedData = false
    private var quarantinedBytes = 0
    /// What is wrong with lines that came.
    package private(set) var flaws = StreamFlaws()
    /// How many lines had come before this request.
    private var linesBefore = 0
    /// What lines about ids said, as many as the limits allow.
    package private(set) var idMappings: [IDMapping] = []

    /// An intake for one pull.
    ///
    /// Of the tables at the places in `ledgered`, ids and links are kept until everything is read again by record.
    /// Columns in `added` the client has only just got; by `aliases` it knows what the backend has given ids to.
    package init(
        projection: Projection, hashKey: SipHash.Key, limits: Limits, ledgered: Set<Int> = [],
        added: [String: Set<String>] = [:], aliases: IDAliases? = nil
    ) {
        self.limits = limits
        splitter = LineSplitter(maximumLength: limits.line)
        projector = LineProjector(projection, key: hashKey)
        projector.needsContent = !ledgered.isEmpty
        projector.watch(added)
        projector.aliases = aliases
        baseNames = projection.schema.tables.enumerated().flatMap { place, table in
            table.upserts.map { (WireType($0).baseName, place) }
        }
        let tables = projection.schema.tables.count
        records = Array(repeating: SegmentWriter(), count: tables)
        deletions = records
        ranks = projection.tableOrder.rank.map { UInt16($0) }
        isLedgered = (0..<tables).map(ledgered.contains)
        deduplicator = Deduplicator(runLength: limits.run)
    }

    /// What the stream said beside its records.
    ///
    /// Rows may have come by another version of a declared type that nobody has declared: that the others did not come
    /// says nothing then.
    package var signs: StreamSigns {
        var signs = collected
        for type in projector.counters.unknownTypes.keys {
            guard !type.isEmpty else {
                signs.quarantine(.everything, at: UInt64(counts.lines))
                continue
            }
            let baseName = WireType(type).baseName
            for known in baseNames where known.baseName == baseName {
                signs.quarantine(.table(known.table), at: UInt64(counts.lines))
            }
        }
        return signs
    }

    /// How many bytes of memory the lines take that came so far, about.
    package var byteCount: Int {
        deduplicator.byteCount + (records + deletions).reduce(0) { $0 + $1.byteCount } + collected.byteCount
            + idMappings.count * 128
    }

    /// Forgets the lines that were set aside, once they are in the state, and what was wrong; they count all the same.
    package mutating func forgetQuarantined() {
        quarantined = []
        quarantinedBytes = 0
        flaws = StreamFlaws()
    }

    /// How many values were of a type that their column cannot hold and became its default.
    package var defaulted: Int { projector.counters.defaults.wrong }

    /// Prepares for the first byte of a stream request; what an earlier one left unfinished is dropped.
    package mutating func beginRequest() {
        splitter = LineSplitter(maximumLength: limits.line)
        carriedData = false
        linesBefore = counts.lines
        projector.beginRequest()
        collected.beginRequest(after: UInt64(counts.lines), isResumed: !collected.requests.isEmpty && end == nil)
        end = nil
    }

    /// Takes the next bytes; chunks may be cut anywhere.
    ///
    /// - Throws: ``Failure``; nothing more can be taken in then.
    package mutating func feed(_ chunk: UnsafeRawBufferPointer) throws(Failure) {
        counts.bytes += chunk.count
        // The splitter is moved out, since its callback works on the rest of this value.
        var splitter = LineSplitter(maximumLength: limits.line)
        swap(&splitter, &self.splitter)
        defer { swap(&splitter, &self.splitter) }
        let blank = splitter.blankLines
        splitter.feed(chunk) { event in
            guard end == nil, failure == nil else { return }
            switch event {
            case .line(let line): take(line)
            case .tooLong(let head, let tail, _): takeTooLong(head: head, tail: tail)
            }
        }
        blankLines += splitter.blankLines - blank
        if counts.lines - counts.rows + blankLines > limits.otherLines { failure = failure ?? .tooManyLines }
        if let failure { throw failure }
    }

    /// Says that a record of the client is gone, as a line would that takes it from all sources.
    ///
    /// Records of tables that the client does not have, or with ids that it cannot have, are passed over.
    package mutating func delete(_ id: String, table: Int) throws(Failure) {
        guard deletions.indices.contains(table), RecordID.isSafe(id) else { return }
        counts.lines += 1
        output.removeAll()
        output.append(string: id)
        add(.deleteAll, table: table, source: 0, id: IDHash(id: id, key: projector.key), 0..<output.count)
        if let failure { throw failure }
    }

    /// What became of the request, once its bytes have ended or the complete line has come.
    package func report() -> StreamReport {
        StreamReport(end: end ?? .broken, received: projector.receivedTokens, carriedData: carriedData)
    }

    /// How the answer to a request ended that has no complete line; the rest of a line that has not ended is dropped.
    package mutating func finishRequest() -> BrokenEnd {
        BrokenEnd(
            lines: counts.lines - linesBefore, lastType: counts.lines > linesBefore ? projector.lastType : nil,
            unfinishedBytes: splitter.finish())
    }

    private mutating func take(_ line: UnsafeRawBufferPointer) {
        counts.lines += 1
        output.removeAll()
        let result = projector.project(line, into: &output)
        noteFlaws(of: result)
        switch result {
        case .upsert(let table, let source, let id, let range):
            add(.upsert, table: table, source: source, id: id, range)
        case .delete(let table, let source, let all, let id, let range):
            add(all ? .deleteAll : .delete, table: table, source: source, id: id, range)
        case .deleteWhere(let table, let source, _, let link, let digest, _):
            deleteByLink(StreamSigns.Link(table: table, link: link, source: source), digest)
        case .ackOnly: break
        case .idMapping: takeMapping()
        case .complete: end = .complete
        case .reset: end = .reset(token: projector.resetToken ?? "")
        case .unknownType:
            counts.unknownTypes += 1
            carriedData = true
        case .quarantined(_, let scope): quarantine(line, scope)
        }
    }

    private mutating func noteFlaws(of result: LineResult) {
        let number = counts.lines - linesBefore
        switch result {
        case .quarantined(let reason, _):
            return flaws.add(.setAside(reason), at: number, type: projector.quarantined?.type)
        case .unknownType: flaws.add(.unknownType, at: number, type: projector.lastType)
        case .reset: return
        default: break
        }
        if !projector.hasToken {
            flaws.add(.noToken, at: number, type: projector.lastType)
        } else if projector.isTokenNumber {
            flaws.add(.numberToken, at: number, type: projector.lastType)
        }
    }

    private mutating func takeMapping() {
        counts.idMappings += 1
        // What it says is in the state with the cursor that passes its token.
        carriedData = true
        guard idMappings.count < limits.idMappings, let mapping = projector.idMapping else { return }
        idMappings.append(mapping)
    }

    private mutating func takeTooLong(head: UnsafeRawBufferPointer, tail: UnsafeRawBufferPointer) {
        counts.lines += 1
        let result = projector.projectTooLong(head: head, tail: tail)
        guard case .quarantined(_, let scope) = result else { return }
        noteFlaws(of: result)
        quarantine(head, scope)
    }

    /// Deletions by column are few or many lines, each about any number of records; what they mean is decided later.
    private mutating func deleteByLink(_ link: StreamSigns.Link, _ digest: UInt64) {
        carriedData = true
        guard isLedgered[link.table] else {
            counts.unresolvedDeletes += 1
            return
        }
        collected.delete(link, digest: digest, sequence: UInt64(counts.lines))
    }

    private mutating func quarantine(_ line: UnsafeRawBufferPointer, _ scope: QuarantineScope) {
        collected.quarantine(scope, at: UInt64(counts.lines))
        counts.quarantined += 1
        carriedData = true
        guard quarantined.count < limits.quarantineLines, var entry = projector.quarantined else { return }
        let room = max(0, limits.quarantineTotal - quarantinedBytes)
        entry.bytes = Array(line.prefix(min(limits.quarantineBytes, room)))
        quarantinedBytes += entry.bytes.count
        quarantined.append(entry)
    }

    private mutating func add(
        _ operation: DeduplicationEntry.Operation, table: Int, source: Int, id: IDHash, _ range: Range<Int>
    ) {
        carriedData = true
        counts.rows += 1
        // Lines are numbered in 32 bits.
        if counts.rows > (limits.rows > 0 ? min(limits.rows, Int(UInt32.max)) : Int(UInt32.max)) {
            failure = .tooManyRows
            return
        }
        let isUpsert = operation == .upsert
        var entry = DeduplicationEntry(
            idHigh: id.high, idLow: id.low, sequence: UInt64(counts.lines),
            content: isUpsert ? projector.content : 0, line: 0, table: ranks[table],
            source: UInt8(min(source, 63)), operation: operation)
        entry.bringsAddedColumns = isUpsert && projector.bringsWatched
        output.bytes.withUnsafeBytes { bytes in
            let element = UnsafeRawBufferPointer(rebasing: bytes[range])
            entry.line = isUpsert ? records[table].append(element) : deletions[table].append(element)
            guard isLedgered[table] else { return deduplicator.add(entry) }
            // In a record the id comes first; a deletion is the id alone, as a JSON string.
            let start = (isUpsert ? #"{"id":""# : #"""#).utf8.count
            let length = isUpsert ? projector.idLength : element.count - 2
            let id = UnsafeRawBufferPointer(rebasing: element[start..<start &+ length])
            deduplicator.add(entry, id: id, links: isUpsert ? projector.links : [])
        }
    }
}

// What is spooled, and what it is read back by.
extension StreamIntake {
    /// The next full chunk, to be put at `offset` of the spool; nil while none is full.
    package mutating func nextFullChunk(offset: UInt64) -> [UInt8]? {
        nextChunk(offset: offset) { $0.isFull }
    }

    /// The next chunk of what is left at the end; nil when all is handed over.
    package mutating func nextRestChunk(offset: UInt64) -> [UInt8]? {
        nextChunk(offset: offset) { $0.hasRest }
    }

    private mutating func nextChunk(offset: UInt64, where isWanted: (SegmentWriter) -> Bool) -> [UInt8]? {
        for table in records.indices {
            if isWanted(records[table]) { return records[table].takeChunk(storedAt: offset) }
            if isWanted(deletions[table]) { return deletions[table].takeChunk(storedAt: offset) }
        }
        return nil
    }

    /// The next bytes of a sorted run, to be stored behind all that came before; nil while there is room.
    package mutating func nextRunPiece() -> [UInt8]? { deduplicator.nextRunPiece() }

    /// Reads all lines that came so far by record; more may come afterwards, and be read by another reader.
    ///
    /// - Parameter read: Reads exactly `count` bytes of those that ``nextRunPiece()`` handed over.
    /// - Returns: A reader that stands before no table yet.
    package mutating func reader(
        reading read: @escaping @Sendable (_ offset: UInt64, _ count: Int) async throws -> [UInt8]
    ) -> DeduplicationReader {
        deduplicator.reader(reading: read)
    }

    /// Verdicts on all lines that came so far, by the table's place: nothing goes anywhere yet.
    package var verdicts: [LineVerdicts] {
        records.indices.map { LineVerdicts(records: records[$0].lines, deletions: deletions[$0].lines) }
    }

    /// Where all segments lie; every chunk must have been handed over.
    package func segments() -> [SegmentKey: SegmentIndex] {
        var segments: [SegmentKey: SegmentIndex] = [:]
        for table in records.indices {
            segments[SegmentKey(table: table, part: .records)] = records[table].finished()
            segments[SegmentKey(table: table, part: .deletions)] = deletions[table].finished()
        }
        return segments
    }
}
