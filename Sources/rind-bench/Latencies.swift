// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The times of answers, in their order.
struct Latencies {
    private let sorted: [Int]

    /// Sorts times in microseconds.
    init(_ microseconds: [Int]) { sorted = microseconds.sorted() }

    /// Returns the time that a share of the answers keeps, in milliseconds; 0 without answers.
    func milliseconds(_ share: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1_000
    }
}
