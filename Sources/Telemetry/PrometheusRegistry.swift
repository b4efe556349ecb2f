// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import CoreMetrics
import NIOConcurrencyHelpers

/// Holds the series of ``Metric`` behind the interface of swift-metrics, and writes them in Prometheus' text format.
///
/// Metrics that are not in the table are dropped.
package final class PrometheusRegistry: MetricsFactory, Sendable {
    /// The type of the text.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private enum Series: Sendable {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case histogram(HistogramSeries)
    }

    private let series = NIOLockedValueBox<[Metric: [[String]: Series]]>([:])

    /// Creates a registry without series.
    package init() {}

    /// Returns the handler of a counter's series.
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard let metric = Metric(rawValue: label), metric.kind == .counter else { return NOOPMetricsHandler.instance }
        if case .counter(let series) = find(metric, dimensions, or: .counter(CounterSeries())) { return series }
        return NOOPMetricsHandler.instance
    }

    /// Returns the handler of a gauge's series; also of a counter that is not counted here.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        guard let metric = Metric(rawValue: label), metric.kind != .histogram else {
            return NOOPMetricsHandler.instance
        }
        if case .gauge(let series) = find(metric, dimensions, or: .gauge(GaugeSeries())) { return series }
        return NOOPMetricsHandler.instance
    }

    /// Returns the handler of a histogram's series.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        guard let metric = Metric(rawValue: label), metric.kind == .histogram else {
            return NOOPMetricsHandler.instance
        }
        if case .histogram(let series) = find(metric, dimensions, or: .histogram(HistogramSeries(metric.buckets))) {
            return series
        }
        return NOOPMetricsHandler.instance
    }

    /// Returns a handler that drops everything: no metric of the table is a recorder.
    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    /// Does nothing: a series lives until a reading of it has no value.
    package func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing.
    package func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing.
    package func destroyTimer(_ handler: any TimerHandler) {}
    /// Does nothing.
    package func destroyRecorder(_ handler: any RecorderHandler) {}

    private func find(_ metric: Metric, _ dimensions: [(String, String)], or new: Series) -> Series {
        let values = metric.labels.map { name in dimensions.first { $0.0 == name }?.1 ?? "" }
        return series.withLockedValue { series in
            if let found = series[metric]?[values] { return found }
            series[metric, default: [:]][values] = new
            return new
        }
    }

    /// Removes a series, so that it does not show its last value for ever.
    func remove(_ metric: Metric, labels: [String]) {
        series.withLockedValue { $0[metric]?[labels] = nil }
    }

    /// Returns the values of a metric that is a counter, by its labels.
    func values(of metric: Metric) -> [(labels: [String], value: Double)] {
        series.withLockedValue { $0[metric] ?? [:] }.compactMap { labels, series in
            guard case .counter(let counter) = series else { return nil }
            return (labels, Double(counter.value))
        }
    }

    /// Returns all series, in the order of the table.
    package func text() -> String {
        let series = series.withLockedValue(\.self)
        var text = ""
        for metric in Metric.allCases {
            text += "# HELP \(metric.rawValue) \(metric.help)\n# TYPE \(metric.rawValue) \(metric.kind.rawValue)\n"
            let rows = (series[metric] ?? [:]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
            for (values, series) in rows {
                let labels = zip(metric.labels, values).map { "\($0)=\"\(Self.escaped($1))\"" }
                switch series {
                case .counter(let counter):
                    text += Self.line(metric.rawValue, labels, value: Double(counter.value))
                case .gauge(let gauge): text += Self.line(metric.rawValue, labels, value: gauge.value)
                case .histogram(let histogram): text += Self.lines(metric, labels, of: histogram.content)
                }
            }
        }
        return text
    }

    private static func lines(_ metric: Metric, _ labels: [String], of content: HistogramSeries.Content) -> String {
        var (text, count) = ("", 0)
        for (index, end) in (metric.buckets.map(number) + ["+Inf"]).enumerated() {
            count += content.counts[index]
            text += line("\(metric.rawValue)_bucket", labels + ["le=\"\(end)\""], value: Double(count))
        }
        text += line("\(metric.rawValue)_sum", labels, value: Double(content.nanoseconds) / 1e9)
        return text + line("\(metric.rawValue)_count", labels, value: Double(count))
    }

    private static func line(_ name: String, _ labels: [String], value: Double) -> String {
        let list = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        return "\(name)\(list) \(number(value))\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
