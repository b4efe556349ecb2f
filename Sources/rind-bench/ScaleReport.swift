// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Scale`` has measured.
struct ScaleReport: Report, Codable {
    /// The figures that the gateway should reach with the large state.
    enum Goal {
        /// The most milliseconds until it is ready.
        static let readyMilliseconds = 200.0
        /// The most times the processor time of an idle pull with the small state: what a noisy machine blurs.
        static let cost = 1.1
    }

    /// One turn of idle pulls.
    struct Pulls: Codable {
        var requestsPerSecond: Double
        /// The latencies that 50 and 99 of 100 answers keep, in milliseconds.
        var median: Double
        var percentile99: Double
        /// The gateway's processor time for one request, in microseconds.
        var processorMicroseconds: Double?
    }

    /// One state; pulls of the same index belong to the same turn.
    struct State: Codable {
        var replicas: Int
        /// The size of the file.
        var bytes: Int
        var pulls: [Pulls] = []
        /// The times from each start after a kill until the gateway was ready.
        var readyMilliseconds: [Double] = []
    }

    var scenario = "Scale"
    var callers: Int
    var machine: Machine
    var states: [State]

    /// The table and its sentences.
    var text: String {
        var table = [["replicas", "MB", "ready ms", "", "", "requests/s", "ms", "", "CPU µs"]]
        table.append(["", "", "min", "median", "max", "median", "50 %", "99 %", "a request"])
        for state in states {
            func cell(_ figure: (Pulls) -> Double?, _ digits: Int) -> String {
                Spread(state.pulls.compactMap(figure)).map { Text.number($0.median, digits) } ?? "-"
            }
            table.append(
                [Text.grouped(state.replicas), Text.number(Double(state.bytes) / 1e6, 1)]
                    + (Spread(state.readyMilliseconds)?.cells(0) ?? ["-", "-", "-"])
                    + [
                        cell(\.requestsPerSecond, 0), cell(\.median, 2), cell(\.percentile99, 2),
                        cell(\.processorMicroseconds, 0),
                    ])
        }
        let head = "Scale: a kill, and idle pulls of \(callers) callers, by the number of replicas in the state"
        return ([head, machine.sentence, "", Text.table(table), ""] + outcomes.map(\.sentence)).joined(separator: "\n")
    }

    /// The figures that have a goal.
    var outcomes: [Outcome] {
        guard let few = states.first, let many = states.last else { return [] }
        let costs = zip(many.pulls, few.pulls).compactMap { many, few in
            many.processorMicroseconds.flatMap { many in few.processorMicroseconds.map { many / $0 } }
        }
        let size = "\(Text.grouped(many.replicas)) replicas"
        return [
            Outcome(
                "\(size): ms until ready after a kill", Spread(many.readyMilliseconds),
                goal: .atMost(Goal.readyMilliseconds), digits: 0),
            Outcome(
                "\(size): CPU of an idle pull, to \(Text.grouped(few.replicas))", Spread(costs),
                goal: .atMost(Goal.cost)),
        ].compactMap(\.self)
    }
}
