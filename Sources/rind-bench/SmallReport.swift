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

    var scenario = "Small"
    var connections: Int
    var callers: Int
    var machine: Machine
    var notes: [String]
    var ways: [Way]

    /// The table and its sentences.
    var text: String {
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
        let head = "Small: idle pulls of \(callers) callers on \(connections) connections, in turns"
        let sentences = ["nginx", "node", "other"].compactMap { sentence(comparedWith: $0) }
        return
            ([head, machine.sentence, "", Text.table(table), ""] + ways.map { "\($0.name): \($0.version)" } + notes
            + sentences).joined(separator: "\n")
    }

    private func cell(_ value: Double?, _ digits: Int) -> String { value.map { Text.number($0, digits) } ?? "-" }

    /// Compares the gateway with another server, turn by turn.
    private func sentence(comparedWith name: String) -> String? {
        guard let rind = ways.first(where: { $0.name == "rind" }), let way = ways.first(where: { $0.name == name }),
            let ratio = Spread(zip(rind.samples, way.samples).map { $0.requestsPerSecond / $1.requestsPerSecond })
        else { return nil }
        return "rind answers \(Text.number(ratio.median, 3)) times as many requests as \(name) "
            + "(\(Text.number(ratio.min, 3)) to \(Text.number(ratio.max, 3)))"
    }
}
