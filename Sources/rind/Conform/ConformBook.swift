// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Collects what became of each rule.
struct ConformBook {
    /// The result for one rule.
    enum Outcome: Equatable {
        case holds
        case fails(Failure)
        case skipped(String)
    }

    /// The evidence that a rule does not hold.
    struct Failure: Equatable {
        /// The problem in one sentence.
        var problem: String
        /// The request.
        var sent: String
        /// The answer.
        var came: String
    }

    private var outcomes: [ConformRule: Outcome] = [:]

    /// Returns the result for a rule.
    func outcome(of rule: ConformRule) -> Outcome {
        outcomes[rule] ?? .skipped(rule.needsPush ? "needs --write" : "an earlier step failed")
    }

    /// Notes that a rule has held once; an earlier failure stays.
    mutating func hold(_ rule: ConformRule) {
        if case .fails = outcomes[rule] { return }
        outcomes[rule] = .holds
    }

    /// Notes that a rule does not hold; the first failure of each rule is kept.
    mutating func fail(_ rule: ConformRule, _ problem: String, in exchange: ConformExchange) {
        if case .fails = outcomes[rule] { return }
        outcomes[rule] = .fails(Failure(problem: problem, sent: exchange.sent, came: exchange.came))
    }

    /// Notes the result of a test.
    mutating func expect(
        _ condition: Bool, _ rule: ConformRule, in exchange: ConformExchange, or problem: @autoclosure () -> String
    ) {
        if condition { hold(rule) } else { fail(rule, problem(), in: exchange) }
    }

    /// Notes why some rules were not tried; those with a result keep it.
    mutating func skip(_ rules: [ConformRule], because reason: String) {
        for rule in rules where outcomes[rule] == nil { outcomes[rule] = .skipped(reason) }
    }

    /// The number of rules that hold, fail and were skipped.
    var counts: (holding: Int, failing: Int, skipped: Int) {
        ConformRule.allCases.reduce(into: (0, 0, 0)) { counts, rule in
            switch outcome(of: rule) {
            case .holds: counts.0 += 1
            case .fails: counts.1 += 1
            case .skipped: counts.2 += 1
            }
        }
    }
}
