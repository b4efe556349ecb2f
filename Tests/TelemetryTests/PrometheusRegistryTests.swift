// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Telemetry
import Testing

@Suite struct PrometheusRegistryTests {
    @Test func `counters, gauges and histograms are written as Prometheus reads them`() {
        let metrics = GatewayMetrics(version: "1.2\"\\\n3")
        metrics.count(.conflicts, 3, labels: .init(first: "tasks"))
        metrics.count(.conflicts, labels: .init(first: "tasks"))
        metrics.set([MetricReading(.pullsRunning, 2), MetricReading(.cpu, 1.5)])
        metrics.observe(.syncTime, .milliseconds(3), labels: .init(first: "pull"))
        metrics.observe(.syncTime, .milliseconds(5), labels: .init(first: "pull"))
        metrics.observe(.syncTime, .seconds(301), labels: .init(first: "pull"))
        let lines = metrics.text().split(separator: "\n").map(String.init)
        for line in [
            "# TYPE rind_conflicts_total counter", #"rind_conflicts_total{table="tasks"} 4"#,
            "rind_pulls_running 2", "process_cpu_seconds_total 1.5", "rind_backend_lines_total 0",
            #"rind_build_info{version="1.2\"\\\n3"} 1"#, "# TYPE rind_sync_seconds histogram",
            #"rind_sync_seconds_bucket{kind="pull",le="0.0025"} 0"#,
            #"rind_sync_seconds_bucket{kind="pull",le="0.005"} 2"#,
            #"rind_sync_seconds_bucket{kind="pull",le="300"} 2"#,
            #"rind_sync_seconds_bucket{kind="pull",le="+Inf"} 3"#, #"rind_sync_seconds_sum{kind="pull"} 301.008"#,
            #"rind_sync_seconds_count{kind="pull"} 3"#,
        ] { #expect(lines.contains(line), "\(line)") }
    }

    @Test func `what is not in the table is dropped`() {
        let registry = PrometheusRegistry()
        Counter(label: "other_total", factory: registry).increment()
        Counter(label: Metric.syncTime.rawValue, factory: registry).increment()
        CoreMetrics.Timer(label: Metric.lines.rawValue, factory: registry).recordSeconds(1)
        Meter(label: Metric.syncTime.rawValue, factory: registry).set(1)
        Recorder(label: Metric.lines.rawValue, factory: registry).record(1)
        #expect(registry.text().split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
    }

    @Test func `a trace adds up its stages, and only those are observed that it was in`() async {
        let trace = SyncTrace()
        SyncTrace.$current.withValue(trace) {
            SyncTrace.note { $0.kind = .pull }
            for _ in 0..<2 { SyncTrace.begin(.diff).end() }
            SyncTrace.note { $0.calls[2] += 2 }
            SyncTrace.note { $0.tables["tasks", default: .init()].add(.init(rows: 2, bytes: 10)) }
        }
        SyncTrace.begin(.commit).end()
        let metrics = GatewayMetrics()
        metrics.observe(trace.content)
        let text = metrics.text()
        #expect(text.contains(#"rind_sync_stage_seconds_count{kind="pull",stage="diff"} 1"#))
        #expect(text.contains(#"rind_sync_stage_seconds_count{kind="pull",stage="commit"} 0"#))
        #expect(text.contains(#"rind_backend_calls_total{status="2xx"} 2"#))
        #expect(text.contains(#"rind_row_bytes_total{table="tasks",direction="out"} 10"#))
    }
}
