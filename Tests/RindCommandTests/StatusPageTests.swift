// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Testing

/// The operator's page, as a browser shows it.
@Suite(.timeLimit(.minutes(3))) struct StatusPageTests {
    private static let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test func `the page shows syncs, failures, devices, and where the configuration comes from`() async throws {
        try await Self.withBusyGateway { served, operated in
            let page = try await operated.get("/status")
            #expect(page.status == 200)
            for text in [
                "<strong class=\"good\">serving</strong>", "can be read and written", "push.conflict",
                "a record was changed elsewhere", "same cursor", "rind.ini", "SHA-256", "tags", "came once",
            ] { #expect(page.body.contains(text), "\(text)") }
            #expect(!page.body.contains("<script") && !page.body.contains("ada-token"))
            #expect(try await operated.get("/status.css").status == 200)
            #expect(try await served.get("/status").status == 404, "the backend's, not the gateway's")
        }
    }

    @Test(
        .enabled(if: browser != nil, "Chromium is not installed"),
        arguments: zip(["1200,1400", "390,1600"], ["dark", "light"]))
    func `a browser draws the page with its style`(size: String, scheme: String) async throws {
        let browser = try #require(Self.browser)
        try await Self.withBusyGateway { _, operated in
            let url = "http://127.0.0.1:\(operated.port)/status"
            let profile = operated.directory.appending(path: "profile").path(percentEncoded: false)
            let picture = operated.directory.appending(path: "page.png").path(percentEncoded: false)
            let common = [
                "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=\(profile)",
                "--window-size=\(size)", "--blink-settings=preferredColorScheme=\(scheme == "dark" ? 0 : 1)",
            ]
            let dom = try await RunningCommand.run(common + ["--dump-dom", url], program: browser)
            #expect(dom.status == 0 && dom.out.contains("<h2>Stuck devices</h2>"), "\(dom.error)")
            #expect(dom.out.contains("same cursor"))
            let shot = try await RunningCommand.run(common + ["--screenshot=\(picture)", url], program: browser)
            #expect(shot.status == 0, "\(shot.error)")
            let data = try Data(contentsOf: URL(filePath: picture))
            // A page without its style sheet, or none at all, compresses to less.
            #expect(data.starts(with: [0x89, 0x50, 0x4E, 0x47]) && data.count > 20_000, "\(data.count) bytes")
            if let directory = ProcessInfo.processInfo.environment["RIND_SCREENSHOTS"] {
                try data.write(to: URL(filePath: directory).appending(path: "status-\(size)-\(scheme).png"))
            }
        }
    }

    /// A gateway with a device that does not get on, a conflict, and a caller without a credential.
    private static func withBusyGateway(
        _ body: (_ served: ServedGateway, _ operated: ServedGateway) async throws -> Void
    ) async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "t1", "label": "x"]))
            let variables = ["RIND_ADMIN_STUCK_REPEATS": "1"]
            try await ServedGateway.withAdmin(backend, environment: variables) { served, operated in
                let first = try await served.get("/sync?last_pulled_at=null", token: "ada-token")
                let cursor = try #require(first.body.firstMatch(of: #/"timestamp":(\d+)/#)?.1)
                for label in ["a", "b"] {
                    try await backend.edit(.put("tags", ["id": "t2", "label": .string(label)]))
                    _ = try await served.get("/sync?last_pulled_at=\(cursor)", token: "ada-token")
                }
                for label in ["c", "d"] {
                    _ = try await served.post(
                        "/sync?last_pulled_at=\(cursor)",
                        #"{"tags":{"created":[],"updated":[{"id":"t1","label":"\#(label)"}],"deleted":[]}}"#,
                        token: "ada-token")
                }
                _ = try await served.get("/sync?last_pulled_at=null")
                try await body(served, operated)
            }
        }
    }
}
