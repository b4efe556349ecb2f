// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A figure that was measured, beside the goal that it should reach.
struct Outcome {
    /// A limit that the figure should keep.
    enum Goal {
        case atLeast(Double)
        case atMost(Double)
        /// A limit that each of the measured figures should keep, not only their median.
        case always(atMost: Double)
    }

    /// The name of the figure, for a headline; ratios name the other side.
    var name: String
    /// The measured figure; its median counts if the goal says nothing else.
    var figure: Spread
    var goal: Goal
    /// The number of digits after the point of figure and goal.
    var digits: Int

    /// Creates an outcome; nil if nothing was measured.
    init?(_ name: String, _ figure: Spread?, goal: Goal, digits: Int = 2) {
        guard let figure else { return nil }
        self.name = name
        self.figure = figure
        self.goal = goal
        self.digits = digits
    }

    /// True if the figure is at the goal or on its good side.
    var isReached: Bool {
        switch goal {
        case .atLeast(let least): figure.median >= least
        case .atMost(let most): figure.median <= most
        case .always(let most): figure.max <= most
        }
    }

    /// The outcome as a line of a report.
    var sentence: String {
        "\(verdict)  \(name): \(median)\(range.isEmpty ? "" : " (\(range))"); goal: \(wanted)"
    }

    /// The cells of a row of a table of outcomes.
    var cells: [String] { [name, median, range, wanted, verdict] }

    private var verdict: String { isReached ? "reached" : "MISSED " }
    private var median: String { Text.number(figure.median, digits) }
    private var wanted: String {
        switch goal {
        case .atLeast(let least): "at least \(Text.number(least, digits))"
        case .atMost(let most): "at most \(Text.number(most, digits))"
        case .always(let most): "always at most \(Text.number(most, digits))"
        }
    }
    private var range: String {
        figure.min == figure.max ? "" : "\(Text.number(figure.min, digits)) to \(Text.number(figure.max, digits))"
    }
}
