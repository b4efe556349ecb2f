// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The figures that ``Overload`` has measured.
struct OverloadReport: Report, Codable {
    /// The figure that the gateway should reach.
    enum Goal {
        /// The least share of its best rate that it answers with 2xx.
        static let share = 0.9
    }

    /// The multiples of the best rate that are offered.
    static let factors = [2.0, 10]

    /// The answers of one kind.
    struct Answers: Codable {
        var perSecond: Double
        /// The latencies that 50 and 99 of 100 answers keep, in milliseconds.
        var median: Double
        var percentile99: Double
    }

    /// One offered rate.
    struct Round: Codable {
        /// The multiple of the best rate.
        var factor: Double
        /// The pulls a second that should be sent, and those that were.
        var offered: Double
        var sent: Double
        var done: Answers
        var putOff: Answers
        var refused: Answers
        /// The number of requests without an answer.
        var unanswered: Int
        var statuses: [Int: Int]
        /// The processors that the gateway has used.
        var processors: Double?
    }

    /// The best rate, and its multiples, one after the other.
    struct Turn: Codable {
        /// The pulls a second that the gateway has answered as fast as kept connections ask for them.
        var best: Double
        var rounds: [Round] = []
    }

    /// One backend.
    struct Section: Codable {
        /// The milliseconds that it takes before a stream begins.
        var latency: Int
        var turns: [Turn] = []
    }

    var scenario = "Overload"
    var machine: Machine
    var sections: [Section] = []

    init(machine: Machine) { self.machine = machine }
}

// The report for reading.
extension OverloadReport {
    /// The figures that have a goal.
    var outcomes: [Outcome] { sections.flatMap { section in Self.factors.indices.compactMap(section.outcome) } }

    /// The tables and their sentences.
    var text: String {
        (["Overload: first syncs of new callers, at a steady rate", machine.sentence, ""]
            + sections.flatMap { [$0.text, ""] }).dropLast().joined(separator: "\n")
    }
}

extension OverloadReport.Section {
    fileprivate var text: String {
        var table = [
            [
                "times the best", "sent/s", "2xx/s", "50 % ms", "99 % ms", "503/s", "50 % ms", "99 % ms", "other/s",
                "lost", "CPUs",
            ]
        ]
        for index in OverloadReport.factors.indices {
            func cell(_ digits: Int, _ figure: (OverloadReport.Round) -> Double?) -> String {
                Spread(turns.compactMap { figure($0.rounds[index]) }).map { Text.number($0.median, digits) } ?? "-"
            }
            table.append([
                Text.number(OverloadReport.factors[index], 0), cell(0, \.sent), cell(0, \.done.perSecond),
                cell(1, \.done.median), cell(1, \.done.percentile99), cell(0, \.putOff.perSecond),
                cell(1, \.putOff.median), cell(1, \.putOff.percentile99), cell(1, \.refused.perSecond),
                "\(turns.reduce(0) { $0 + $1.rounds[index].unanswered })", cell(2, \.processors),
            ])
        }
        let best = Spread(turns.map(\.best)).map { Text.number($0.median, 0) } ?? "-"
        let head = "\(limit): \(best) pulls a second at best, \(OverloadCourse.pulls) at a time"
        return ([head, Text.table(table)] + OverloadReport.factors.indices.flatMap(sentences)).joined(separator: "\n")
    }

    private var limit: String { latency == 0 ? "the processors limit" : "the backend takes \(latency) ms" }

    /// Returns the share of its best rate that the gateway keeps at one multiple.
    fileprivate func outcome(_ index: Int) -> Outcome? {
        let times = Text.number(OverloadReport.factors[index], 0)
        return Outcome(
            "overload, \(limit): 2xx at \(times) times the best rate, to the best",
            Spread(turns.map { $0.rounds[index].done.perSecond / $0.best }), goal: .atLeast(OverloadReport.Goal.share))
    }

    private func sentences(_ index: Int) -> [String] {
        let rounds = turns.map { $0.rounds[index] }
        let times = Text.number(OverloadReport.factors[index], 0)
        var sentences = [outcome(index)].compactMap { $0?.sentence }
        let others = rounds.flatMap(\.statuses).filter { !(200..<300).contains($0.key) && $0.key != 503 }
        let lost = rounds.reduce(0) { $0 + $1.unanswered }
        if lost > 0 || rounds.contains(where: { $0.refused.perSecond > 0 }) {
            sentences.append(
                "MISSED   at \(times) times its best rate not every other answer is a 503 with Retry-After: "
                    + (others.map { "\($0.value) times \($0.key)" }.sorted() + ["\(lost) lost"]).joined(separator: ", ")
            )
        }
        if let sent = Spread(rounds.map { $0.sent / $0.offered }), sent.median < 0.98 {
            sentences.append(
                "         only \(Text.number(sent.median, 2)) of \(times) times the best rate could be sent: "
                    + "all connections were busy, or the load client was")
        }
        return sentences
    }
}
