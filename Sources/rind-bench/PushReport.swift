// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Push`` has measured.
struct PushReport: Report, Codable {
    /// The most that the gateway may cost.
    enum Bound {
        /// The time of a stream push, divided by that of the same request sent to the backend.
        static let stream = 1.15
        /// The time of a push call by call, divided by that of the same calls, as many at a time.
        static let calls = 1.25
    }

    /// The two ways in which operations reach the backend.
    enum Style: String, Codable, CaseIterable {
        /// One request for all records.
        case stream
        /// A call for each record.
        case calls
    }

    /// One push through the gateway and one without, made one after the other.
    struct Pair: Codable {
        var gatewaySeconds: Double
        var directSeconds: Double
        /// The processor time of the gateway, in seconds.
        var processorSeconds: Double?
    }

    /// One large push through a fresh gateway.
    struct Memory: Codable {
        var bodyBytes: Int
        /// The resident memory before the push.
        var residentBytes: Int?
        /// The most memory that was ever resident.
        var peakResidentBytes: Int?
        var wallSeconds: Double
    }

    /// The figures of one style.
    struct Way: Codable {
        var style: Style
        var pairs: [Pair] = []
        var memory: Memory?

        /// The time through the gateway divided by the time without it, pair by pair.
        var ratios: Spread? { Spread(pairs.map { $0.gatewaySeconds / $0.directSeconds }) }
        var bound: Double { style == .stream ? Bound.stream : Bound.calls }
    }

    var scenario = "Push"
    var records: Int
    var large: Int
    var parallel: Int
    /// The backend's delay, in milliseconds.
    var latency: Int
    var machine: Machine
    /// True if figures are compared with their bounds.
    var isJudged: Bool
    var ways: [Way] = []

    init(records: Int, large: Int, parallel: Int, latency: Int, machine: Machine, isJudged: Bool) {
        self.records = records
        self.large = large
        self.parallel = parallel
        self.latency = latency
        self.machine = machine
        self.isJudged = isJudged
    }

    /// The comparisons with bounds and their results, without figures that the system does not report.
    var verdicts: [(sentence: String, isKept: Bool)] {
        ways.flatMap { [timeVerdict($0), memoryVerdict($0)].compactMap(\.self) }
    }

    private func name(_ way: Way) -> String {
        way.style == .stream ? "a stream push" : "a push call by call, \(parallel) at a time,"
    }

    private func timeVerdict(_ way: Way) -> (sentence: String, isKept: Bool)? {
        guard let ratio = way.ratios?.median else { return nil }
        let sentence = "\(name(way)) takes \(Text.number(ratio, 2)) times as long as without the gateway"
        return ("\(sentence); bound \(Text.number(way.bound, 2))", ratio <= way.bound)
    }

    /// Compares the memory of a push with its share of `[limits] push_memory`: its body, and 1 KiB for each record.
    private func memoryVerdict(_ way: Way) -> (sentence: String, isKept: Bool)? {
        guard let memory = way.memory, let before = memory.residentBytes, let peak = memory.peakResidentBytes else {
            return nil
        }
        let (taken, paid) = (peak - before, memory.bodyBytes + (large << 10))
        let sentence =
            "\(name(way)) of \(Text.grouped(large)) records takes \(Text.number(Double(taken) / 0x1p20, 0)) MiB; "
            + "it is let in as \(Text.number(Double(paid) / 0x1p20, 0)) MiB of push_memory"
        return (sentence, taken <= paid)
    }

    /// True if every bound was kept; nil if no figure was compared with one.
    var isWithinBounds: Bool? { isJudged ? verdicts.allSatisfy(\.isKept) : nil }
}

// The report for reading.
extension PushReport {
    /// The tables and their sentences.
    var text: String {
        var lines = [
            "Push: \(Text.grouped(records)) records, \(ways.first?.pairs.count ?? 0) pushes each way, in turns",
            machine.sentence, "", timeTable, "", memoryTable, "",
            "Call by call: \(parallel) at a time, and the backend waits \(latency) ms before it carries one out. Six of "
                + "ten records are created, three changed, one deleted. What the gateway adds is of the medians.", "",
        ]
        for verdict in verdicts {
            let mark = isJudged ? (verdict.isKept ? "kept  " : "MISSED") : "      "
            lines.append("\(mark)  \(verdict.sentence)")
        }
        return lines.joined(separator: "\n")
    }

    private var timeTable: String {
        var table = [
            ["", "direct s", "rind s", "", "", "rind to direct", "", "", "adds µs a record", "CPU µs a record"],
            ["", "median", "min", "median", "max", "min", "median", "max", "", "mean"],
        ]
        let missing = ["-", "-", "-"]
        for way in ways {
            let direct = Spread(way.pairs.map(\.directSeconds))?.median
            let gateway = Spread(way.pairs.map(\.gatewaySeconds))
            let added = direct.flatMap { direct in gateway.map { ($0.median - direct) / Double(records) * 1e6 } }
            // Processor time is counted in steps of 10 ms, so only the sum means something.
            let processor = way.pairs.compactMap(\.processorSeconds)
            let each = processor.reduce(0, +) / Double(max(processor.count, 1) * records) * 1e6
            table.append(
                [way.style == .stream ? "stream push" : "call by call", direct.map { Text.number($0, 3) } ?? "-"]
                    + (gateway?.cells(3) ?? missing) + (way.ratios?.cells(2) ?? missing)
                    + [added.map { Text.number($0, 1) } ?? "-", processor.isEmpty ? "-" : Text.number(each, 1)])
        }
        return Text.table(table)
    }

    private var memoryTable: String {
        var table = [["\(Text.grouped(large)) records", "body MiB", "resident MiB before", "peak MiB", "wall s"]]
        for way in ways {
            guard let memory = way.memory else { continue }
            func cell(_ bytes: Int?) -> String { bytes.map { Text.number(Double($0) / 0x1p20, 0) } ?? "-" }
            table.append([
                way.style == .stream ? "stream push" : "call by call", cell(memory.bodyBytes),
                cell(memory.residentBytes), cell(memory.peakResidentBytes), Text.number(memory.wallSeconds, 2),
            ])
        }
        return Text.table(table)
    }
}
