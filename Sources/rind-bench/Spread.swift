// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Least, middle and greatest of some figures.
struct Spread: Codable {
    var min: Double
    var median: Double
    var max: Double

    /// Of at least one figure; nil without.
    init?(_ figures: [Double]) {
        let sorted = figures.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        min = first
        max = last
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// The three, each with so many digits behind the point.
    func cells(_ digits: Int) -> [String] { [min, median, max].map { Text.number($0, digits) } }
}
