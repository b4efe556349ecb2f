// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

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

    /// The points as findings, in the page's order.
    var findings: [CheckFinding] {
        ChecklistPoint.allCases.map { point in
            switch outcomes[point] {
            case .holds: CheckFinding(.ok, point.sentence, of: "point")
            case .fails(let problem): CheckFinding(.wrong, point.sentence, of: "point", hint: problem)
            case .partly(let reason):
                CheckFinding(.note, "tried in part, \(reason): \(point.sentence)", of: "point")
            case .untried(let reason):
                CheckFinding(.note, "not tried, \(reason): \(point.sentence)", of: "point")
            case nil:
                CheckFinding(
                    .note,
                    "not tried, \(point.beyondReach.map { "needs \($0)" } ?? "an earlier point failed"): \(point.sentence)",
                    of: "point")
            }
        }
    }
}
