// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Small`` has measured.
struct SmallReport: Codable {
    /// One turn of one server.
    struct Sample: Codable {
        var requestsPerSecond: Double
        /// The latencies that 50, 99 and 99.9 of 100 answers keep, in milliseconds.
        var median: Double
        var percentile99: Double
        var percentile999: Double
        /// The server's processor time for one request, in microseconds.
        var processorMicroseconds: Double?
        /// The times that the server's threads were switched for one request, voluntarily or not.
        var switches: Double?
    }

    /// One server; samples of the same index belong to the same turn.
    struct Way: Codable {
        var name: String
        var version: String
        var samples: [Sample]

        /// Returns the median of one figure.
        func median(_ figure: (Sample) -> Double?) -> Double? { Spread(samples.compactMap(figure))?.median }
    }

    /// A figure that the gateway should reach beside another server.
    struct Goal: Codable {
        var other: String
        /// The least share of the other's requests a second.
        var rate: Double?
        /// The most times the latency that 99 of 100 of the other's answers keep.
        var percentile99: Double?

        /// Creates a goal.
        init(_ other: String, rate: Double? = nil, percentile99: Double? = nil) {
            self.other = other
            self.rate = rate
            self.percentile99 = percentile99
        }
    }

    /// One scenario with one number of connections.
    struct Section: Codable {
        var scenario: SmallScenario
        var title: String
        var connections: Int
        var callers: Int
        var ways: [Way]
    }

    var scenario = "Small"
    var machine: Machine
    var notes: [String] = []
    var sections: [Section] = []
}

// The report for reading.
extension SmallReport {
    /// The tables and their sentences.
    var text: String {
        let versions = sections.flatMap(\.ways).reduce(into: [String]()) { lines, way in
            let line = "\(way.name): \(way.version)"
            if !lines.contains(line) { lines.append(line) }
        }
        return
            (["Small: small syncs, in turns", machine.sentence, ""] + sections.flatMap { [$0.text, ""] } + versions
            + notes).joined(separator: "\n")
    }
}

extension SmallReport.Section {
    fileprivate var text: String {
        var table = [["", "requests/s", "", "", "ms", "", "", "CPU µs", "switches"]]
        table.append(["", "min", "median", "max", "50 %", "99 %", "99.9 %", "a request", "a request"])
        for way in ways {
            let rate = Spread(way.samples.map(\.requestsPerSecond))
            table.append(
                [way.name] + (rate?.cells(0) ?? ["-", "-", "-"])
                    + [
                        cell(way.median(\.median), 2), cell(way.median(\.percentile99), 2),
                        cell(way.median(\.percentile999), 2), cell(way.median(\.processorMicroseconds), 0),
                        cell(way.median(\.switches), 1),
                    ])
        }
        let head = "\(scenario.rawValue): \(title); \(callers) callers on \(connections) connections"
        return ([head, Text.table(table)] + sentences).joined(separator: "\n")
    }

    private func cell(_ value: Double?, _ digits: Int) -> String { value.map { Text.number($0, digits) } ?? "-" }

    private var sentences: [String] {
        let rates = ["nginx", "node", "other"].compactMap { name -> String? in
            guard let ratio = ratio(to: name, \.requestsPerSecond) else { return nil }
            let goal = scenario.goals.first { $0.other == name && $0.rate != nil }?.rate
            return verdict(goal.map { ratio.median >= $0 })
                + "rind answers \(Text.number(ratio.median, 3)) times as many requests as \(name) (\(range(ratio)))"
                + (goal.map { "; goal: at least \(Text.number($0, 2))" } ?? "")
        }
        let times = scenario.goals.compactMap { goal -> String? in
            guard let most = goal.percentile99, let ratio = ratio(to: goal.other, \.percentile99) else { return nil }
            return verdict(ratio.median <= most)
                + "99 % of its answers take at most \(Text.number(ratio.median, 1)) times as long as those of "
                + "\(goal.other) (\(range(ratio))); goal: at most \(Text.number(most, 0))"
        }
        return rates + times
    }

    private func verdict(_ isReached: Bool?) -> String {
        switch isReached {
        case true?: "reached  "
        case false?: "MISSED   "
        case nil: "         "
        }
    }

    private func range(_ ratio: Spread) -> String { "\(Text.number(ratio.min, 2)) to \(Text.number(ratio.max, 2))" }

    /// Compares the gateway with another server, turn by turn.
    private func ratio(to name: String, _ figure: (SmallReport.Sample) -> Double) -> Spread? {
        guard let rind = ways.first(where: { $0.name == "rind" }), let way = ways.first(where: { $0.name == name })
        else { return nil }
        return Spread(zip(rind.samples, way.samples).map { figure($0) / figure($1) })
    }
}
