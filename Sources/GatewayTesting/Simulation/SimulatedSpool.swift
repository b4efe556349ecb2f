// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

/// What one pull has streamed so far, spooled and compacted by the engine's own code, with very short runs.
struct SimulatedSpool {
    private var compactor = Compactor(runLength: 5)
    private var writers: [SegmentKey: SegmentWriter] = [:]
    private var bytes: [UInt8] = []
    private var runs: [[CompactionEntry]] = []
    private var sequence: UInt64 = 0

    mutating func add(_ line: SimulatedStream.Line) {
        guard let key = line.key else { return }
        let text = line.record.map { "\"\(key.id)|\($0.value)|\($0.parent)\"" } ?? "\"\(key.id)\""
        let segment = SegmentKey(table: key.table.rawValue, isDeletions: line.record == nil)
        let element = Array(text.utf8)
        let (position, length) = element.withUnsafeBytes { writers[segment, default: SegmentWriter()].append($0) }
        if sequence.isMultiple(of: 3) { store(segment) }
        if compactor.isRunFull { runs.append(compactor.takeRun()) }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key.id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let source = SimulatedSchema.schema.tables[key.table.rawValue].source(of: line.type)
        compactor.add(
            CompactionEntry(
                idHigh: hash, idLow: ~hash, sequence: sequence, position: position, length: length,
                table: UInt16(key.table.rawValue), source: UInt8(source),
                operation: line.record == nil ? .delete : .upsert))
        sequence += 1
    }

    /// Everything that is left, as arrays of texts by segment.
    mutating func finish() async throws -> [SegmentKey: [String]] {
        for key in writers.keys where writers[key]?.hasRest == true { store(key) }
        let runs = runs
        let compaction = try await compactor.finish { run, first, count in Array(runs[run][first..<first + count]) }
        return writers.reduce(into: [:]) { result, entry in
            let live = entry.value.finished().live(without: compaction.holes[entry.key] ?? [])
            let text = String(
                decoding: live.flatMap { bytes[Int($0.offset)..<Int($0.offset + $0.length)] }, as: UTF8.self)
            result[entry.key] = text.split(separator: ",").map { String($0.dropFirst().dropLast()) }
        }
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

    init(timestamp: Int64, segments: [SegmentKey: [String]], delivery: PullDelivery) {
        self.timestamp = timestamp
        var seen: Set<SimulatedKey> = []
        for (segment, texts) in segments {
            guard let table = SimulatedTable(rawValue: segment.table) else { continue }
            if segment.isDeletions, delivery == .first { continue }
            for text in texts {
                let parts = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                let key = SimulatedKey(table, parts[0])
                if !seen.insert(key).inserted { repeated = key }
                if segment.isDeletions {
                    deleted.insert(key)
                } else {
                    let record = SimulatedRecord(value: Int(parts[1]) ?? -1, parent: parts[2])
                    if delivery == .first { created[key] = record } else { updated[key] = record }
                }
            }
        }
    }
}
