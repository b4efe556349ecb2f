// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend

/// Collects what became of each point of the checklist.
struct ChecklistResults {
    private enum Outcome {
        case holds
        case fails(String)
        /// A part was not tried; the rest holds.
        case partly(String)
        case untried(String)
    }

    private var outcomes: [ChecklistPoint: Outcome] = [:]
    /// The calls that have failed, and what is left behind.
    var failures: [CheckFinding] = []

    /// Notes whether a point has held once more; the first failure stays, and so does a part that was not tried.
    mutating func expect(_ condition: Bool, _ point: ChecklistPoint, or problem: @autoclosure () -> String) {
        switch outcomes[point] {
        case .fails: return
        case .partly where condition: return
        default: outcomes[point] = condition ? .holds : .fails(problem())
        }
    }

    /// Notes why a part of a point cannot be tried; a failure of another part stays.
    mutating func leavePart(of point: ChecklistPoint, because reason: String) {
        if case .fails = outcomes[point] { return }
        outcomes[point] = .partly(reason)
    }

    /// Notes why some points were not tried; those with a result keep it.
    mutating func leave(_ points: [ChecklistPoint], because reason: String) {
        for point in points where outcomes[point] == nil { outcomes[point] = .untried(reason) }
    }

    /// Notes a call that has failed.
    mutating func note(_ failure: ChecklistFailure, at settings: BackendSettings) {
        failures.append(failure.call.failed(failure.cause, at: settings, isSecond: failure.isSecond))
    }

    /// True if no point fails that was tried, and no call.
    var isPassed: Bool {
        failures.isEmpty && !outcomes.values.contains { if case .fails = $0 { true } else { false } }
    }

    /// The points in the page's order, as a table of Markdown, which tickets show as one.
    var table: [String] {
        let rows = ChecklistPoint.allCases.enumerated().map { index, point in
            let (result, remark) = cells(of: point)
            let cells = [
                "\(index + 1)".leftPadded(to: 2), result.padded(to: 8), Self.cell(point.sentence), Self.cell(remark),
            ]
            return "| \(cells.joined(separator: " | ")) |"
        }
        return ["|  # | result   | point | what came, or is missing |", "|---:|----------|-------|---|"] + rows
    }

    private func cells(of point: ChecklistPoint) -> (result: String, remark: String) {
        switch outcomes[point] {
        case .holds: ("ok", "")
        case .fails(let problem): ("wrong", problem)
        case .partly(let reason): ("in part", reason)
        case .untried(let reason): ("untried", reason)
        case nil: ("untried", point.beyondReach ?? "an earlier point or call failed")
        }
    }

    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
