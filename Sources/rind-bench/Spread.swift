// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The least, the median and the greatest of some figures.
struct Spread: Codable {
    var min: Double
    var median: Double
    var max: Double

    /// Creates the spread of at least one figure; nil if there is none.
    init?(_ figures: [Double]) {
        let sorted = figures.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        min = first
        max = last
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Returns the three figures, each with a number of digits after the point.
    func cells(_ digits: Int) -> [String] { [min, median, max].map { Text.number($0, digits) } }
}
