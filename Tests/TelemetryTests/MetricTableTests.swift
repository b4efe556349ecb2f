// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Telemetry
import Testing

/// The manual, the dashboard and the alerts name the metrics of the code, and no others.
///
/// `RIND_REGENERATE=1 swift test --filter MetricTableTests` writes the table of the manual anew.
@Suite struct MetricTableTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `the manual has the table of metrics`() throws {
        let path = "docs/METRICS.md"
        var manual = try Self.text(path)
        let begin = try #require(manual.range(of: "<!-- table of metrics -->\n"))
        let end = try #require(manual.range(of: "\n<!-- end of the table -->"))
        if ProcessInfo.processInfo.environment["RIND_REGENERATE"] != nil {
            manual.replaceSubrange(begin.upperBound..<end.lowerBound, with: Metric.page)
            try Data(manual.utf8).write(to: Self.root.appending(path: path))
        }
        let committed = try Self.text(path)
        #expect(committed.contains(Metric.page), "run: RIND_REGENERATE=1 swift test --filter MetricTableTests")
    }

    @Test(arguments: ["grafana.json", "alerts.yml", "README.md"])
    func `an example names no metric that is not in the table`(file: String) throws {
        let text = try Self.text("examples/monitoring/\(file)")
        let names = Set(text.matches(of: #/\b(rind|process)_[a-z_]+/#).map { String($0.0) })
        #expect(file == "README.md" || !names.isEmpty)
        let series = Metric.allCases.flatMap { metric in
            metric.kind == .histogram
                ? ["_bucket", "_sum", "_count"].map { metric.rawValue + $0 } : [metric.rawValue]
        }
        #expect(names.subtracting(series).isEmpty)
    }

    @Test func `the dashboard is JSON, and each panel asks something`() throws {
        let data = try Data(contentsOf: Self.root.appending(path: "examples/monitoring/grafana.json"))
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        for panel in panels where panel["type"] as? String != "row" {
            let targets = try #require(panel["targets"] as? [[String: Any]])
            #expect(!targets.isEmpty && targets.allSatisfy { ($0["expr"] as? String)?.isEmpty == false })
        }
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
    }

    @Test func `every metric has a sentence, and at most four labels`() {
        for metric in Metric.allCases {
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n") && !metric.help.contains("|"))
            #expect(metric.labels.count <= 4)
            #expect((metric.kind == .counter) == metric.rawValue.hasSuffix("_total"))
        }
    }
}
