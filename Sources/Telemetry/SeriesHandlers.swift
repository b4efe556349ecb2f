// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import NIOConcurrencyHelpers

/// Counts upwards.
final class CounterSeries: CounterHandler, Sendable {
    private let count = NIOLockedValueBox<Int64>(0)

    var value: Int64 { count.withLockedValue(\.self) }

    func increment(by amount: Int64) { count.withLockedValue { $0 &+= amount } }
    func reset() { count.withLockedValue { $0 = 0 } }
}

/// Holds a value that goes up and down.
final class GaugeSeries: MeterHandler, Sendable {
    private let current = NIOLockedValueBox(0.0)

    var value: Double { current.withLockedValue(\.self) }

    func set(_ value: Int64) { current.withLockedValue { $0 = Double(value) } }
    func set(_ value: Double) { current.withLockedValue { $0 = value } }
    func increment(by amount: Double) { current.withLockedValue { $0 += amount } }
    func decrement(by amount: Double) { current.withLockedValue { $0 -= amount } }
}

/// Counts durations in the buckets of a histogram.
final class HistogramSeries: TimerHandler, Sendable {
    struct Content: Sendable {
        /// The number of durations in each bucket alone, the last one for those beyond all.
        var counts: [Int]
        var nanoseconds: Int64 = 0
    }

    private let ends: [Int64]
    private let box: NIOLockedValueBox<Content>

    init(_ buckets: [Double]) {
        ends = buckets.map { Int64($0 * 1e9) }
        box = NIOLockedValueBox(Content(counts: [Int](repeating: 0, count: buckets.count + 1)))
    }

    var content: Content { box.withLockedValue(\.self) }

    func recordNanoseconds(_ duration: Int64) {
        let index = ends.firstIndex { duration <= $0 } ?? ends.count
        box.withLockedValue {
            $0.counts[index] += 1
            $0.nanoseconds &+= duration
        }
    }
}
