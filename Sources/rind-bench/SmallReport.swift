// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Small`` has measured.
struct SmallReport: Report, Codable {
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
    /// The figures that have a goal.
    var outcomes: [Outcome] { sections.flatMap(\.outcomes) }

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

    fileprivate var outcomes: [Outcome] {
        let name = "\(scenario.rawValue), \(connections) connections"
        return scenario.goals.flatMap { goal in
            [
                goal.rate.flatMap {
                    Outcome("\(name): requests/s, to \(goal.other)", rate(beside: goal.other), goal: .atLeast($0))
                },
                goal.percentile99.flatMap {
                    Outcome(
                        "\(name): 99 %, to \(goal.other)", ratio(to: goal.other, \.percentile99), goal: .atMost($0),
                        digits: 1
                    )
                },
            ].compactMap(\.self)
        }
    }

    private var sentences: [String] {
        let others = ["nginx", "node", "other"].filter { name in
            !scenario.goals.contains { $0.other == name && $0.rate != nil }
        }
        return outcomes.map(\.sentence)
            + others.compactMap { name in
                rate(beside: name).map {
                    "         requests/s, to \(name): \(Text.number($0.median, 3)) "
                        + "(\(Text.number($0.min, 2)) to \(Text.number($0.max, 2)))"
                }
            }
    }

    private func rate(beside name: String) -> Spread? { ratio(to: name, \.requestsPerSecond) }

    /// Compares the gateway with another server, turn by turn.
    private func ratio(to name: String, _ figure: (SmallReport.Sample) -> Double) -> Spread? {
        guard let rind = ways.first(where: { $0.name == "rind" }), let way = ways.first(where: { $0.name == name })
        else { return nil }
        return Spread(zip(rind.samples, way.samples).map { figure($0) / figure($1) })
    }
}
