// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``FirstSync`` has measured.
struct FirstSyncReport: Report, Codable {
    /// One answer.
    struct Sample: Codable {
        var wallSeconds: Double
        var answerBytes: Int
        /// The processor time that the server spent on the answer.
        var processorSeconds: Double?
    }

    /// One way from the backend to the client; samples of the same index belong to the same run.
    struct Way: Codable {
        var name: String
        var version: String
        var samples: [Sample]
        /// The most memory that was resident since the server started.
        var peakResidentBytes: Int?
    }

    /// The figures that the gateway should reach.
    enum Goal {
        /// The most times the time of nginx, and the same if both compress with one level.
        static let time = 2.0
        static let compressedTime = 1.1
        /// The most processor time for ``FirstSync/usualRows``.
        static let processorSeconds = 0.45
        /// The most resident memory, whatever the number of rows.
        static let peakMebibytes = 96.0
    }

    var scenario = "FirstSync"
    var rows: Int
    var backendBytes: Int
    /// True if the client accepts gzip, and the ways compress.
    var isCompressed: Bool
    var machine: Machine
    var notes: [String]
    var ways: [Way]

    init(
        rows: Int, backendBytes: Int, isCompressed: Bool, machine: Machine, notes: [String], ways: [Way]
    ) {
        self.rows = rows
        self.backendBytes = backendBytes
        self.isCompressed = isCompressed
        self.machine = machine
        self.notes = notes
        self.ways = ways
    }

    /// True if the gateway stayed within ``FirstSync/memoryBound``; nil if that is unknown.
    var isWithinBounds: Bool? {
        ways.first { $0.name == "rind" }?.peakResidentBytes.map { $0 < FirstSync.memoryBound }
    }

    /// The gateway's figures that have a goal.
    ///
    /// Processor time has one for the usual number of rows only.
    var outcomes: [Outcome] {
        let rind = ways.first { $0.name == "rind" }
        let size = "first sync of \(Text.grouped(rows)) rows\(isCompressed ? ", gzip" : "")"
        let processor = Spread(rind?.samples.compactMap(\.processorSeconds) ?? [])
        let peak = rind?.peakResidentBytes.flatMap { Spread([Double($0) / 0x1p20]) }
        return [
            Outcome(
                "\(size): time, to nginx", ratios("rind", "nginx"),
                goal: .atMost(isCompressed ? Goal.compressedTime : Goal.time)),
            isCompressed || rows != FirstSync.usualRows
                ? nil : Outcome("\(size): CPU seconds", processor, goal: .atMost(Goal.processorSeconds)),
            Outcome("\(size): peak MiB", peak, goal: .atMost(Goal.peakMebibytes), digits: 0),
        ].compactMap(\.self)
    }

    /// The table and its sentences.
    var text: String {
        var lines = [
            "FirstSync: \(Text.grouped(rows)) rows, \(Text.number(Double(backendBytes) / 1e6, 1)) MB of stream, "
                + "\(ways.first?.samples.count ?? 0) runs each, in turns",
            machine.sentence, "", Text.table(header + ways.map(row)), "",
            "MB/s is of the backend's bytes. CPU s is the server's own (of 'direct', the backend's), the median. "
                + "Ratios are of wall times within one run.",
        ]
        lines += ways.map { "\($0.name): \($0.version)" } + notes
        lines += [
            sentence("rind", comparedWith: "nginx"), sentence("rind", comparedWith: "node"),
            sentence("rind", comparedWith: "other"), boundSentence,
        ]
        .compactMap { $0 }
        lines += outcomes.map(\.sentence)
        return lines.joined(separator: "\n")
    }

    private var header: [[String]] {
        [
            ["", "wall s", "", "", "MB/s", "to nginx", "", "", "CPU s", "peak MiB"],
            ["", "min", "median", "max", "median", "min", "median", "max", "", ""],
        ]
    }

    private func row(_ way: Way) -> [String] {
        let wall = Spread(way.samples.map(\.wallSeconds))
        let missing = ["-", "-", "-"]
        return [way.name] + (wall?.cells(3) ?? missing)
            + [wall.map { Text.number(Double(backendBytes) / $0.median / 1e6, 0) } ?? "-"]
            + (ratios(way.name, "nginx")?.cells(2) ?? missing)
            + [
                Spread(way.samples.compactMap(\.processorSeconds)).map { Text.number($0.median, 2) } ?? "-",
                way.peakResidentBytes.map { Text.number(Double($0) / 0x1p20, 0) } ?? "-",
            ]
    }

    /// Returns the wall times of one way divided by those of another, pair by pair.
    func ratios(_ name: String, _ other: String) -> Spread? {
        guard let way = ways.first(where: { $0.name == name }), let base = ways.first(where: { $0.name == other })
        else { return nil }
        return Spread(zip(way.samples, base.samples).map { $0.wallSeconds / $1.wallSeconds })
    }

    private func sentence(_ name: String, comparedWith other: String) -> String? {
        ratios(name, other).map {
            "\(name) takes \(Text.number($0.median, 2)) times as long as \(other) "
                + "(\(Text.number($0.min, 2)) to \(Text.number($0.max, 2)))."
        }
    }

    private var boundSentence: String? {
        isWithinBounds.map {
            "The gateway \($0 ? "stayed under" : "EXCEEDED") its bound of \(FirstSync.memoryBound >> 20) MiB resident."
        }
    }
}
