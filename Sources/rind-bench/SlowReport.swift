// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Slow`` has measured.
struct SlowReport: Codable {
    /// The figures that the gateway should reach.
    enum Goal {
        /// The most additional memory for each slow reader, in KiB.
        static let clientKibibytes = 160.0
        /// The most times the latency that 99 of 100 idle pulls keep without slow readers.
        static let percentile99 = 3.0
    }

    /// Idle pulls.
    struct Pulls: Codable {
        var requestsPerSecond: Double
        /// The latencies that 50 and 99 of 100 answers keep, in milliseconds.
        var median: Double
        var percentile99: Double
    }

    var scenario = "Slow"
    var clients: Int
    /// The number of records in each slow reader's answer.
    var rows: Int
    var machine: Machine
    var alone: Pulls?
    var beside: Pulls?
    /// The time until the answers of all slow readers had begun.
    var beginSeconds: Double?
    /// The number of slow readers that were opened, and of those that were asked to come later.
    var opened = 0
    var putOff = 0
    /// The bytes of an answer.
    var answerBytes: Int?
    /// The bytes that a slow reader has read in a second.
    var bytesPerSecond: Double?
    /// The number of slow readers that had all of their answer when idle pulls were measured.
    var wholeMeanwhile: Int?
    /// The resident memory of the gateway, in bytes: before, when all answers have begun, while they are read, and when
    /// they are gone.
    var residentBefore: Int?
    var residentWaiting: Int?
    var residentReading: Int?
    var residentAfter: Int?
    /// The most memory that was ever resident.
    var peakResident: Int?

    init(clients: Int, rows: Int, machine: Machine) {
        self.clients = clients
        self.rows = rows
        self.machine = machine
    }

    /// The number of slow readers that were answered, at least 1.
    var begun: Int { max(opened - putOff, 1) }
}

// The report for reading.
extension SlowReport {
    /// The tables and their sentences.
    var text: String {
        func mebibytes(_ bytes: Int?) -> String { bytes.map { Text.number(Double($0) / 0x1p20, 0) } ?? "-" }
        func figure(_ value: Double?, _ digits: Int) -> String { value.map { Text.number($0, digits) } ?? "-" }
        let memory = [
            ["resident MiB", "before", "all begun", "while they read", "after", "peak"],
            [
                "", mebibytes(residentBefore), mebibytes(residentWaiting), mebibytes(residentReading),
                mebibytes(residentAfter), mebibytes(peakResident),
            ],
        ]
        var pulls = [["idle pulls", "requests/s", "50 % ms", "99 % ms"]]
        for (name, figures) in [("alone", alone), ("beside slow readers", beside)] {
            pulls.append([
                name, figure(figures?.requestsPerSecond, 0), figure(figures?.median, 2),
                figure(figures?.percentile99, 2),
            ])
        }
        let head =
            "Slow: \(Text.grouped(begun)) clients read \(figure(answerBytes.map { Double($0) / 1e6 }, 1)) MB each, "
            + "\(figure(bytesPerSecond.map { $0 / 1024 }, 0)) KiB/s; all had begun after \(figure(beginSeconds, 1)) s"
        return ([head, machine.sentence, "", Text.table(memory), "", Text.table(pulls), ""] + sentences)
            .joined(separator: "\n")
    }

    private var sentences: [String] {
        var sentences: [String] = []
        if putOff > 0 {
            sentences.append(
                "MISSED   \(Text.grouped(begun)) slow readers instead of \(Text.grouped(clients)): there was no room "
                    + "for the answers of more")
        }
        if let residentBefore, let most = [residentWaiting, residentReading].compactMap(\.self).max() {
            let each = Double(most - residentBefore) / 1024 / Double(begun)
            sentences.append(
                verdict(each <= Goal.clientKibibytes)
                    + "a slow reader takes \(Text.number(each, 0)) KiB; goal: at most "
                    + Text.number(Goal.clientKibibytes, 0))
        }
        if let alone, let beside, alone.percentile99 > 0 {
            let ratio = beside.percentile99 / alone.percentile99
            sentences.append(
                verdict(ratio <= Goal.percentile99)
                    + "99 % of idle pulls beside them take at most \(Text.number(ratio, 1)) times as long as alone; goal: "
                    + "at most \(Text.number(Goal.percentile99, 0))")
        }
        if let wholeMeanwhile, wholeMeanwhile > 0 {
            sentences.append("         \(wholeMeanwhile) of them had read everything before the measurement ended")
        }
        return sentences
    }

    private func verdict(_ isReached: Bool) -> String { isReached ? "reached  " : "MISSED   " }
}
