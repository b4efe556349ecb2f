// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import NIOConcurrencyHelpers

/// One value of a gauge, read when the metrics are asked for.
package struct MetricReading: Sendable {
    let metric: Metric
    let labels: [String]
    let value: Double?

    /// Creates a reading; the labels have the order of the table.
    ///
    /// Without a value there is nothing to read, as after a reload that has removed it: the series goes away.
    package init(_ metric: Metric, _ value: Double?, labels: [String] = []) {
        self.metric = metric
        self.value = value
        self.labels = labels
    }
}

/// Counts what the gateway does.
///
/// Series are made when they are first counted. After that an observation takes two short locks and no memory.
package final class GatewayMetrics: Sendable {
    /// The values of up to four labels.
    package struct Labels: Hashable, Sendable {
        fileprivate let first: String
        fileprivate let second: String
        fileprivate let third: String
        fileprivate let fourth: String

        /// Creates labels in the order of the table.
        package init(first: String = "", second: String = "", third: String = "", fourth: String = "") {
            (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
        }
    }

    private struct Key: Hashable {
        let metric: Metric
        let labels: Labels
    }

    private let registry = PrometheusRegistry()
    private let recent = NIOLockedValueBox(RecentSyncs())
    // The handlers, not the types of swift-metrics around them, whose generic methods cost more than the counting.
    private let counters = NIOLockedValueBox<[Key: any CounterHandler]>([:])
    private let timers = NIOLockedValueBox<[Key: any TimerHandler]>([:])
    /// The pairs of a kind and a stage, so that none has to be looked up by text.
    private let stages: [[any TimerHandler]]

    /// Creates metrics.
    package init(version: String = "unknown") {
        stages = [SyncTrace.Kind.unknown, .pull, .push].map { [registry] kind in
            SyncStage.allCases.map { stage in
                registry.makeTimer(
                    label: Metric.stageTime.rawValue, dimensions: [("kind", kind.rawValue), ("stage", stage.rawValue)])
            }
        }
        for metric in Metric.allCases where metric.kind == .counter && metric.labels.isEmpty && !metric.isRead {
            count(metric, 0)
        }
        set([MetricReading(.build, 1, labels: [version])])
    }

    /// Counts.
    package func count(_ metric: Metric, _ amount: Int = 1, labels: Labels = Labels()) {
        let key = Key(metric: metric, labels: labels)
        let counter = counters.withLockedValue { counters in
            if let counter = counters[key] { return counter }
            let counter = registry.makeCounter(label: metric.rawValue, dimensions: dimensions(of: key))
            counters[key] = counter
            return counter
        }
        counter.increment(by: Int64(amount))
    }

    /// Counts, unless there is nothing to count.
    package func add(_ metric: Metric, _ amount: Int, labels: Labels = Labels()) {
        if amount > 0 { count(metric, amount, labels: labels) }
    }

    /// Takes the duration of something.
    package func observe(_ metric: Metric, _ duration: Duration, labels: Labels = Labels()) {
        let key = Key(metric: metric, labels: labels)
        let timer = timers.withLockedValue { timers in
            if let timer = timers[key] { return timer }
            let timer = registry.makeTimer(label: metric.rawValue, dimensions: dimensions(of: key))
            timers[key] = timer
            return timer
        }
        let (seconds, attoseconds) = duration.components
        timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Takes what a trace has collected.
    package func observe(_ trace: SyncTrace.Content) {
        let timers = stages[trace.kind == .pull ? 1 : trace.kind == .push ? 2 : 0]
        for index in 0..<timers.count where trace.nanoseconds[index] > 0 {
            timers[index].recordNanoseconds(trace.nanoseconds[index])
        }
        for index in 0..<Self.statuses.count where trace.calls[index] > 0 {
            count(.calls, Int(trace.calls[index]), labels: Labels(first: Self.statuses[index]))
        }
        if let isKnown = trace.isKnownCaller { count(.identities, labels: Labels(first: isKnown ? "known" : "asked")) }
        for (table, figures) in trace.tables {
            let labels = Labels(first: table, second: trace.kind == .push ? "in" : "out")
            add(.rows, figures.rows, labels: labels)
            add(.deletions, figures.deletions, labels: labels)
            add(.rowBytes, figures.bytes, labels: labels)
        }
    }

    /// Sets gauges, and removes those whose reading has no value.
    package func set(_ readings: [MetricReading]) {
        for reading in readings {
            guard let value = reading.value else {
                registry.remove(reading.metric, labels: reading.labels)
                continue
            }
            let dimensions = Array(zip(reading.metric.labels, reading.labels))
            Meter(label: reading.metric.rawValue, dimensions: dimensions, factory: registry).set(value)
        }
    }

    /// Remembers a sync that has ended.
    package func remember(_ sync: RecentSyncs.Sync, isSuccess: Bool) {
        recent.withLockedValue { $0.add(sync, isSuccess: isSuccess) }
    }

    /// The syncs of the last hour.
    package var recentSyncs: RecentSyncs { recent.withLockedValue(\.self) }

    /// Returns the values of a counter, by its labels.
    package func values(of counter: Metric) -> [(labels: [String], value: Double)] { registry.values(of: counter) }

    /// Returns everything in Prometheus' text format.
    package func text() -> String { registry.text() }

    private static let statuses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"]

    /// Returns the class of a status.
    package static func statusClass(_ status: Int) -> String {
        (1...5).contains(status / 100) ? statuses[status / 100] : statuses[0]
    }

    private func dimensions(of key: Key) -> [(String, String)] {
        Array(zip(key.metric.labels, [key.labels.first, key.labels.second, key.labels.third, key.labels.fourth]))
    }
}
