// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import LineProjection
package import SyncModel

/// Takes the bytes of stream requests and makes segments of them: lines ▶ projection ▶ de-duplication ▶ chunks.
///
/// One intake serves a pull from its first byte to the complete line, resumed streams included; after a reset a new
/// intake begins. It holds chunks and a run of de-duplication entries, never the stream.
package struct StreamIntake: Sendable {
    /// The amounts that an intake may hold and let through.
    package struct Limits: Hashable, Sendable {
        /// The longest line in bytes; longer ones are quarantined.
        package var line = 8 << 20
        /// The most rows and deletions of one pull; 0 is no limit.
        package var rows = 0
        /// The most lines that bring no row: blank lines, unknown types, acknowledgements and quarantined lines.
        package var otherLines = 10_000_000
        /// The most bytes that are kept of a quarantined line.
        package var quarantineBytes = 4_096
        /// The most bytes that are kept of all quarantined lines of a pull; further ones are kept without their bytes.
        package var quarantineTotal = 16 << 20
        /// The most quarantined lines that are kept for the state; all are counted.
        package var quarantineLines = 256
        /// The number of de-duplication entries that are gathered before they are sorted and taken away.
        package var run = 65_536
        /// The most lines about ids that are kept in one pull; all are counted.
        package var idMappings = 10_000
        /// Creates the default limits.
        package init() {}
    }

    /// The reason why no more of the stream can be taken in.
    package enum Failure: String, Error, CaseIterable, Sendable {
        /// More rows than `[pull] max_rows`.
        case tooManyRows = "pull.too_many_rows"
        /// More lines that bring no row than any backend has a reason to send.
        case tooManyLines = "pull.too_many_lines"
    }

    /// The end of an answer that has no complete line.
    package struct BrokenEnd: Hashable, Sendable {
        /// The number of lines that came.
        package let lines: Int
        /// The type of the last line that had one, as far as it could be read.
        package let lastType: String?
        /// The number of bytes that came behind the last line end.
        package let unfinishedBytes: Int
    }

    /// The counts of lines, rows and bytes that came.
    package struct Counts: Hashable, Sendable {
        /// Lines of any kind.
        package var lines = 0
        /// Records and deletions.
        package var rows = 0
        /// Lines that were quarantined.
        package var quarantined = 0
        /// Lines of types that the configuration does not name, or whose table the client does not have.
        package var unknownTypes = 0
        /// Deletions by another column than the id in tables without a ledger, which cannot be resolved.
        package var unresolvedDeletes = 0
        /// Lines about ids that the backend has given.
        package var idMappings = 0
        /// Bytes after decompression.
        package var bytes = 0
        /// Creates counts of 0.
        package init() {}
    }

    private let limits: Limits
    private var splitter: LineSplitter
    private var projector: LineProjector
    private var output = JSONWriter(capacity: 16 * 1_024)
    private var records: [SegmentWriter]
    private var deletions: [SegmentWriter]
    /// The ranks of the tables, by index; `isLedgered` tells whether ids and links are kept for the ledger.
    private let ranks: [TableRank]
    private let isLedgered: [Bool]
    /// The number of the namespace of each table's last row in this request; -1 without one.
    private var rowNamespaces: [Int]
    private var deduplicator: Deduplicator
    private var failure: Failure?
    private var blankLines = 0

    /// The counts of lines, rows and bytes so far.
    package private(set) var counts = Counts()
    /// The lines that were quarantined, as many as the limits allow.
    package private(set) var quarantined: [QuarantinedLine] = []
    /// The complete or reset line, once it has come; everything after it is ignored.
    package private(set) var end: StreamReport.End?
    private var collected = StreamSigns()
    /// The base names of the types that bring rows, with the indexes of their tables.
    private let baseNames: [(baseName: Substring, table: Int)]
    /// True if any line came in this request that was neither the complete line nor ack-only.
    private var carriedData = false
    private var quarantinedBytes = 0
    /// The flaws of the lines that came.
    package private(set) var flaws = StreamFlaws()
    /// The number of lines that had come before this request.
    private var linesBefore = 0
    /// The ids that the backend has given, by the lines about ids, as many as the limits allow.
    package private(set) var idMappings: [IDMapping] = []

    /// Creates an intake for one pull.
    ///
    /// For the tables whose indexes are in `ledgered`, ids and links are kept until all lines are read again by record.
    /// `added` names the columns that the client has only just got; `aliases` has the ids by which the client knows
    /// records that have an id from the backend.
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
        baseNames = projection.schema.tables.enumerated().flatMap { index, table in
            table.upserts.map { (WireType($0).baseName, index) }
        }
        let tables = projection.schema.tables.count
        records = Array(repeating: SegmentWriter(), count: tables)
        deletions = records
        ranks = projection.tableOrder.rank
        rowNamespaces = Array(repeating: -1, count: tables)
        isLedgered = (0..<tables).map(ledgered.contains)
        deduplicator = Deduplicator(runLength: limits.run)
    }

    /// The facts that the stream tells beside its records.
    ///
    /// Rows may have come by an undeclared version of a declared type: the absence of other rows then means nothing.
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

    /// The memory of the lines that came so far, in bytes, approximately.
    package var byteCount: Int {
        deduplicator.byteCount + (records + deletions).reduce(0) { $0 + $1.byteCount } + collected.byteCount
            + idMappings.count * 128
    }

    /// Frees memory that only further lines would need; they may come nevertheless.
    package mutating func compact() { deduplicator.compact() }

    /// Forgets the quarantined lines, once they are in the state, and the flaws; the counts stay.
    package mutating func forgetQuarantined() {
        quarantined = []
        quarantinedBytes = 0
        flaws = StreamFlaws()
    }

    /// The columns with values that they could not have, or with times whose zone is unknown.
    package var columnFaults: [ColumnFault] { projector.counters.columnFaults }

    /// The first such values of each column, described without their contents.
    package var unreadable: [UnreadableValues.Value] { projector.unreadable.values }

    /// Prepares for the first byte of a stream request; the unfinished rest of an earlier one is dropped.
    package mutating func beginRequest() {
        splitter = LineSplitter(maximumLength: limits.line)
        carriedData = false
        linesBefore = counts.lines
        for table in rowNamespaces.indices { rowNamespaces[table] = -1 }
        projector.beginRequest()
        collected.beginRequest(
            after: UInt64(counts.lines), isResumed: !collected.beginnings.requests.isEmpty && end == nil)
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

    /// Adds the deletion of a record of the client, as a line would that removes it from all feeds.
    ///
    /// Records of tables that the client does not have, or with ids that it cannot have, are ignored.
    package mutating func delete(_ id: String, table: Int) throws(Failure) {
        guard deletions.indices.contains(table), RecordID.isSafe(id) else { return }
        counts.lines += 1
        output.removeAll()
        output.append(string: id)
        // It is the gateway's own, and newer than all lines.
        add(
            .deleteAll, table: table, feed: 0, id: IDHash(id: id, key: projector.key), 0..<output.count, isOrdered: true
        )
        if let failure { throw failure }
    }

    /// Returns the outcome of the request, once its bytes have ended or the complete line has come.
    package func report() -> StreamReport {
        StreamReport(end: end ?? .broken, received: projector.receivedTokens, carriedData: carriedData)
    }

    /// Ends a request without a complete line and returns its end; the rest of a line that has not ended is dropped.
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
        case .upsert(let table, let feed, let id, let range):
            rowNamespaces[table] = projector.namespaceNumber
            add(.upsert, table: table, feed: feed, id: id, range)
        case .delete(let table, let feed, let all, let id, let range):
            add(
                all ? .deleteAll : .delete, table: table, feed: feed, id: id, range,
                isOrdered: rowNamespaces[table] == projector.namespaceNumber)
        case .deleteWhere(let table, let feed, _, let link, let digest, _):
            deleteByLink(StreamSigns.Link(table: table, link: link, feed: feed), digest)
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
            return flaws.add(.quarantined(reason), at: number, type: projector.quarantined?.type)
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
        // The mapping is in the state together with the cursor that passes the line's token.
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

    /// Notes a deletion by column, which may be about any number of records; which ones is decided later.
    private mutating func deleteByLink(_ link: StreamSigns.Link, _ digest: UInt64) {
        carriedData = true
        guard isLedgered[link.table] else {
            counts.unresolvedDeletes += 1
            return
        }
        collected.delete(
            link, digest: digest, sequence: UInt64(counts.lines),
            isOrdered: rowNamespaces[link.table] == projector.namespaceNumber)
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
        _ operation: DeduplicationEntry.Operation, table: Int, feed: Int, id: IDHash, _ range: Range<Int>,
        isOrdered: Bool = false
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
            content: isUpsert ? projector.content : 0, line: 0, rank: ranks[table],
            feed: UInt8(min(feed, 63)), operation: operation)
        entry.bringsAddedColumns = isUpsert && projector.bringsWatched
        entry.isDefaulted = isUpsert && projector.isDefaulted
        entry.isOrdered = isOrdered
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

// The chunks and runs that are spooled, and the reader, verdicts and segments to read them back.
extension StreamIntake {
    /// Returns the next full chunk, to be put at `offset` of the spool; nil while none is full.
    package mutating func nextFullChunk(offset: UInt64) -> [UInt8]? {
        nextChunk(offset: offset) { $0.isFull }
    }

    /// Returns the next chunk of the rest at the end; nil when all is handed over.
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

    /// Returns the next bytes of a sorted run, to be stored behind all earlier ones; nil while the run is not full.
    package mutating func nextRunPiece() -> [UInt8]? { deduplicator.nextRunPiece() }

    /// Returns a reader of all lines that came so far, by record; later lines need another reader.
    ///
    /// - Parameter read: A function that reads exactly `count` of the bytes that ``nextRunPiece()`` handed over.
    /// - Returns: A reader that stands before no table yet.
    package mutating func reader(
        reading read: @escaping @Sendable (_ offset: UInt64, _ count: Int) async throws -> [UInt8]
    ) -> DeduplicationReader {
        deduplicator.reader(since: collected.beginnings, reading: read)
    }

    /// Verdicts on all lines that came so far, by the table's index: no line goes anywhere yet.
    package var verdicts: [LineVerdicts] {
        records.indices.map { LineVerdicts(records: records[$0].lines, deletions: deletions[$0].lines) }
    }

    /// Returns the offsets of all segments; every chunk must have been handed over.
    package func segments() -> [SegmentKey: SegmentIndex] {
        var segments: [SegmentKey: SegmentIndex] = [:]
        for table in records.indices {
            segments[SegmentKey(table: table, part: .records)] = records[table].finished()
            segments[SegmentKey(table: table, part: .deletions)] = deletions[table].finished()
        }
        return segments
    }
}
