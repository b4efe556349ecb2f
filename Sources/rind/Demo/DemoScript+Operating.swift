// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

// What the operator of a gateway looks at: its counts, and a page.
extension DemoScript {
    mutating func operate() async throws {
        printer.step(
            "What operators see",
            """
            The gateway counts what it does, for Prometheus, on a listener of its own. 'refused' is the app's or the
            user's business, 'failed' is yours, and 'cut' is a client that has left.
            """)
        let metrics = try await send(DemoRequest(url: "\(operatorURL)/metrics"))
        let lines = String(decoding: metrics.body, as: UTF8.self).split(separator: "\n")
        let syncs = lines.filter { $0.hasPrefix("rind_syncs_total{") }
        for line in syncs + lines.filter({ $0.hasPrefix(#"rind_rows_total{table="tasks""#) }) {
            printer.result(String(line))
        }
        try printer.expect(
            !syncs.isEmpty && syncs.allSatisfy { $0.contains(#"result="ok""#) }, "every sync so far was a success")
        printer.say("The page says which devices do not get on and what to do, what has failed, and what was slow.")
        let page = try await send(DemoRequest(url: "\(operatorURL)/status"))
        try printer.expect(
            String(decoding: page.body, as: UTF8.self).contains("Stuck devices"),
            "the page is there: open it in a browser")
    }
}
