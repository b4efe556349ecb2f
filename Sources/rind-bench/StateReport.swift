// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``State`` has measured.
struct StateReport: Report, Codable {
    /// The figures that should be reached.
    enum Goal {
        /// The least share of the idle pulls with SQLite that PostgreSQL answers on the same processors.
        static let share = 0.4
        /// The most times that a look-up or a commit takes in the largest state: flat, but for noise.
        static let growth = 1.25
    }

    /// One turn of requests.
    struct Sample: Codable {
        var requestsPerSecond: Double
        /// The latencies that 50 and 99 of 100 answers keep, in milliseconds.
        var median: Double
        var percentile99: Double
        /// The processor time of gateway and database for one request, in microseconds.
        var gatewayMicroseconds: Double?
        var databaseMicroseconds: Double?
    }

    /// The idle pulls of one way; samples of the same index belong to the same turn.
    struct Way: Codable {
        var name: String
        var samples: [Sample] = []
    }

    /// One state, asked by one connection; samples of the same index belong to the same turn.
    struct Size: Codable {
        var store: String
        var replicas: Int
        var bytes: Int
        var lookups: [Sample] = []
        var commits: [Sample] = []
    }

    var scenario = "State"
    var callers: Int
    var connections: Int
    var machine: Machine
    var notes: [String] = []
    var ways: [Way] = []
    var sizes: [Size] = []

    /// The tables and their sentences.
    var text: String {
        var pulls = [["", "requests/s", "ms, 50 %", "ms, 99 %", "gateway µs", "database µs"]]
        for way in ways {
            pulls.append(
                [
                    way.name, Self.cell(way.samples, \.requestsPerSecond, digits: 0),
                    Self.cell(way.samples, \.median, digits: 2),
                    Self.cell(way.samples, \.percentile99, digits: 2),
                ] + Self.costs(way.samples))
        }
        var table = [["", "", "look-up", "CPU µs", "", "commit", "CPU µs", ""]]
        table.append(["replicas", "MB", "ms, 50 %", "gateway", "database", "ms, 50 %", "gateway", "database"])
        for size in sizes {
            table.append(
                ["\(size.store), \(Text.grouped(size.replicas))", Text.number(Double(size.bytes) / 1e6, 1)]
                    + [Self.cell(size.lookups, \.median, digits: 2)] + Self.costs(size.lookups)
                    + [Self.cell(size.commits, \.median, digits: 2)] + Self.costs(size.commits))
        }
        let head = "State: idle pulls of \(callers) callers on \(connections) connections, by where the state is"
        return
            ([
                head, machine.sentence, "", Text.table(pulls), "", "One connection at a time:", "", Text.table(table),
                "",
            ]
            + notes + outcomes.map(\.sentence)).joined(separator: "\n")
    }

    /// The figures that have a goal.
    var outcomes: [Outcome] {
        var outcomes: [Outcome?] = []
        if let sqlite = ways.first(where: { $0.name == StateCourse.Store.sqlite.name }),
            let postgres = ways.first(where: { $0.name == StateCourse.Store.postgres.name })
        {
            outcomes.append(
                Outcome(
                    "idle pulls/s with PostgreSQL, to SQLite",
                    Spread(zip(postgres.samples, sqlite.samples).map { $0.requestsPerSecond / $1.requestsPerSecond }),
                    goal: .atLeast(Goal.share)))
        }
        for store in StateCourse.Store.allCases {
            let own = sizes.filter { $0.store == store.name }
            guard let few = own.first, let many = own.last, few.replicas < many.replicas else { continue }
            let name = "\(store.name), \(Text.grouped(many.replicas)) replicas to \(Text.grouped(few.replicas))"
            for (what, samples) in [("look-up", \Size.lookups), ("commit", \Size.commits)] {
                outcomes.append(
                    Outcome(
                        "\(name): time of a \(what)",
                        Spread(zip(many[keyPath: samples], few[keyPath: samples]).map { $0.median / $1.median }),
                        goal: .atMost(Goal.growth)))
            }
        }
        return outcomes.compactMap(\.self)
    }

    private static func costs(_ samples: [Sample]) -> [String] {
        [cell(samples, \.gatewayMicroseconds, digits: 0), cell(samples, \.databaseMicroseconds, digits: 0)]
    }

    private static func cell(_ samples: [Sample], _ figure: (Sample) -> Double?, digits: Int) -> String {
        Spread(samples.compactMap(figure)).map { Text.number($0.median, digits) } ?? "-"
    }
}
