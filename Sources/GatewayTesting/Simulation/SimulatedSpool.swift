// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

/// One array of an answer.
struct SimulatedArray: Hashable {
    var table: Int
    var array: AnswerArray
}

/// What one pull has streamed so far, spooled and de-duplicated by the engine's own code, with very short runs.
struct SimulatedSpool {
    /// Whose columns go out, and whether the client has only just got the added one.
    private let version: Int
    private let watchesMark: Bool
    private var deduplicator = Deduplicator(runLength: 5)
    private var writers: [SegmentKey: SegmentWriter] = [:]
    private(set) var bytes: [UInt8] = []
    private var runs: [UInt8] = []
    /// How many lines came.
    private(set) var lines: UInt64 = 0
    /// What they said beside their records.
    private(set) var signs = StreamSigns()

    init(version: Int, added: [String: Set<String>] = [:]) {
        self.version = version
        watchesMark = added[SimulatedTable.tasks.name]?.contains(SimulatedSchema.addedColumn) ?? false
    }

    mutating func beginRequest(isResumed: Bool) { signs.beginRequest(after: lines, isResumed: isResumed) }

    mutating func add(_ line: SimulatedStream.Line) {
        lines += 1
        switch line.content {
        case .acknowledgement: break
        case .purge(let owner):
            let table = SimulatedTable.files.rawValue
            let source = SimulatedSchema.schema.tables[table].source(of: line.type)
            signs.delete(
                .init(table: table, link: 0, source: source),
                digest: IDHash(id: owner, key: SimulatedSchema.key).link, sequence: lines)
        case .deletion(let key): add(key, line.type, nil)
        case .row(let key, let record, .none): add(key, line.type, record)
        case .row(let key, _, .unreadable):
            signs.quarantine(.record(table: key.table.rawValue, id: key.hash), at: lines)
        case .row(let key, _, .withoutID): signs.quarantine(.table(key.table.rawValue), at: lines)
        }
    }

    private mutating func add(_ key: SimulatedKey, _ type: String, _ record: SimulatedRecord?) {
        let record = record?.projected(to: version)
        let mark = record.map { key.table == .tasks && version >= 2 ? "|\($0.mark)" : "" } ?? ""
        let text = record.map { "\"\(key.id)|\($0.value)|\($0.parent)\(mark)\"" } ?? "\"\(key.id)\""
        let segment = SegmentKey(table: key.table.rawValue, part: record == nil ? .deletions : .records)
        let number = Array(text.utf8).withUnsafeBytes { writers[segment, default: SegmentWriter()].append($0) }
        if lines.isMultiple(of: 3) { store(segment) }
        while let piece = deduplicator.nextRunPiece() { runs += piece }
        var entry = DeduplicationEntry(
            idHigh: key.hash.high, idLow: key.hash.low, sequence: lines, content: record?.content(at: version) ?? 0,
            line: number,
            table: UInt16(SimulatedSchema.order.rank[key.table.rawValue]),
            source: UInt8(SimulatedSchema.schema.tables[key.table.rawValue].source(of: type)),
            operation: record == nil ? .delete : .upsert)
        entry.bringsAddedColumns = watchesMark && record?.mark ?? 0 != 0
        Array(key.id.utf8).withUnsafeBytes { id in
            deduplicator.add(entry, id: id, links: record?.links(in: key.table) ?? [])
        }
    }

    /// All lines that came so far, by record.
    mutating func reader() -> DeduplicationReader {
        while let piece = deduplicator.nextRunPiece() { runs += piece }
        let runs = runs
        return deduplicator.reader { offset, count in Array(runs[Int(offset)..<Int(offset) + count]) }
    }

    /// Verdicts on all lines that came so far: nothing goes anywhere yet.
    var verdicts: [LineVerdicts] {
        SimulatedSchema.schema.tables.indices.map {
            LineVerdicts(records: lines(of: $0, .records), deletions: lines(of: $0, .deletions))
        }
    }

    mutating func append(_ chunk: [UInt8]) { bytes += chunk }

    /// Everything that goes out, as texts by array.
    mutating func finish(_ diff: LedgerDiff) -> [SimulatedArray: [String]] {
        for key in writers.keys where writers[key]?.hasRest == true { store(key) }
        var arrays: [SimulatedArray: [String]] = [:]
        for (table, verdicts) in diff.diffed.verdicts.enumerated() {
            let absences = diff.absences[table]
            arrays[SimulatedArray(table: table, array: .created)] = texts(segment(table, .records), verdicts.created)
            arrays[SimulatedArray(table: table, array: .updated)] = texts(segment(table, .records), verdicts.updated)
            arrays[SimulatedArray(table: table, array: .deleted)] =
                texts(segment(table, .deletions), verdicts.deleted) + texts(absences, LineSet(allOf: absences.lines))
        }
        return arrays
    }

    private func lines(of table: Int, _ part: SegmentKey.Part) -> Int {
        writers[SegmentKey(table: table, part: part)]?.lines ?? 0
    }

    private func segment(_ table: Int, _ part: SegmentKey.Part) -> SegmentIndex? {
        writers[SegmentKey(table: table, part: part)]?.finished()
    }

    /// The lines that go out, read in pieces that end anywhere.
    private func texts(_ segment: SegmentIndex?, _ wanted: LineSet) -> [String] {
        guard let segment, wanted.count > 0 else { return [] }
        var picker = LinePicker()
        var picked: [UInt8] = []
        for stretch in segment.stretches(of: wanted) {
            picker.begin(stretch, wanted: wanted)
            let (start, end) = (Int(stretch.offset), Int(stretch.offset + stretch.length))
            for place in stride(from: start, to: end, by: 7) {
                picked += picker.take(Array(bytes[place..<min(place + 7, end)]))
            }
        }
        return String(decoding: picked, as: UTF8.self).split(separator: ",\n")
            .map { String($0.dropFirst().dropLast()) }
    }

    private mutating func store(_ key: SegmentKey) {
        guard let chunk = writers[key]?.takeChunk(storedAt: UInt64(bytes.count)) else { return }
        bytes += chunk
    }
}

/// The answer to a pull as a client reads it.
struct SimulatedAnswer {
    var timestamp: Int64
    var created: [SimulatedKey: SimulatedRecord] = [:]
    var updated: [SimulatedKey: SimulatedRecord] = [:]
    var deleted: Set<SimulatedKey> = []
    /// A record that came twice; clients break on it.
    var repeated: SimulatedKey?

    init(timestamp: Int64, arrays: [SimulatedArray: [String]]) {
        self.timestamp = timestamp
        var seen: Set<SimulatedKey> = []
        for (array, texts) in arrays {
            guard let table = SimulatedTable(rawValue: array.table) else { continue }
            for text in texts {
                let parts = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                let key = SimulatedKey(table, parts[0])
                if !seen.insert(key).inserted { repeated = key }
                guard array.array != .deleted else {
                    deleted.insert(key)
                    continue
                }
                var record = SimulatedRecord(value: Int(parts[1]) ?? -1, parent: parts[2])
                if parts.count > 3 { record.mark = Int(parts[3]) ?? -1 }
                if array.array == .created { created[key] = record } else { updated[key] = record }
            }
        }
    }

    /// Short enough for a trace.
    var summary: String {
        let rows: ([SimulatedKey: SimulatedRecord]) -> String = { rows in
            rows.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }
        return "created [\(rows(created))] updated [\(rows(updated))] deleted \(deleted.sorted())"
    }
}
