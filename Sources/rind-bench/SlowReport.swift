// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Slow`` has measured.
struct SlowReport: Report, Codable {
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
    /// The resident memory of the gateway, in bytes: before, when all answers have begun, some seconds later, while they
    /// are read, and when they are gone.
    var residentBefore: Int?
    var residentBegun: Int?
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
            ["resident MiB", "before", "all begun", "20 s later", "while they read", "20 s after them", "peak"],
            [
                "", mebibytes(residentBefore), mebibytes(residentBegun), mebibytes(residentWaiting),
                mebibytes(residentReading), mebibytes(residentAfter), mebibytes(peakResident),
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

    /// The figures that have a goal.
    var outcomes: [Outcome] {
        let most = [residentWaiting, residentReading].compactMap(\.self).max()
        let each = residentBefore.flatMap { before in most.map { Double($0 - before) / 1024 / Double(begun) } }
        let ratio = alone.flatMap { alone in
            beside.flatMap { alone.percentile99 > 0 ? $0.percentile99 / alone.percentile99 : nil }
        }
        return [
            Outcome(
                "slow readers that are answered, of \(Text.grouped(clients))", Spread([Double(opened - putOff)]),
                goal: .atLeast(Double(clients)), digits: 0),
            Outcome(
                "KiB a slow reader", Spread([each].compactMap(\.self)), goal: .atMost(Goal.clientKibibytes), digits: 0),
            Outcome(
                "idle pulls beside slow readers: 99 %, to those alone", Spread([ratio].compactMap(\.self)),
                goal: .atMost(Goal.percentile99), digits: 1),
        ].compactMap(\.self)
    }

    private var sentences: [String] {
        guard let wholeMeanwhile, wholeMeanwhile > 0 else { return outcomes.map(\.sentence) }
        return outcomes.map(\.sentence)
            + ["         \(wholeMeanwhile) of them had read everything before the measurement ended"]
    }
}
