// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// A gateway that speaks TLS to clients, with real certificates and curl.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: GatewayProcess.isBuilt && Commands.hasTLS, "rind is not built, or openssl or curl is missing"))
struct TLSTests {
    private struct Stage: Sendable {
        let gateway: GatewayProcess
        let backend: DemoBackend
        let directory: String

        /// Calls the gateway with curl, trusting one certificate.
        func curl(_ target: String = "/livez", trusting name: String = "old", _ arguments: String...) async throws
            -> Commands.Result
        {
            try await Commands.run(
                ["curl", "-sS", "--max-time", "60", "--cacert", "\(directory)/\(name).pem"] + arguments
                    + ["https://127.0.0.1:\(gateway.port)\(target)"])
        }

        /// Puts other files in place of those that the configuration names.
        func install(_ certificate: String, key: String? = nil) throws {
            for (file, name) in [("tls.pem", "\(certificate).pem"), ("tls.key", "\(key ?? certificate).key")] {
                let bytes = try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))
                try bytes.write(to: URL(filePath: "\(directory)/\(file)"), options: .atomic)
            }
        }

        func reload(expecting code: String) async throws {
            func ended() -> Int { gateway.log.split(separator: "\n").count { $0.contains("\"code\":\"\(code)\"") } }
            let before = ended()
            gateway.send(SIGHUP)
            try await eventually { ended() > before || !gateway.isRunning }
        }
    }

    private static let files = ["gateway.tls_certificate": "tls.pem", "gateway.tls_key": "tls.key"]

    private static func with(
        _ overrides: [String: String] = [:], _ body: (Stage) async throws -> Void
    ) async throws {
        try await GatewayStack.withBackend { backend, directory in
            try await backend.edit(.put("projects", ["id": "p-0", "name": "one"]))
            try await Commands.makeCertificate("old", in: directory)
            try await Commands.makeCertificate("new", in: directory)
            for (file, name) in [("tls.pem", "old.pem"), ("tls.key", "old.key")] {
                try FileManager.default.copyItem(atPath: "\(directory)/\(name)", toPath: "\(directory)/\(file)")
            }
            let url = try await backend.url
            // Overrides are relative to nothing: their file is the environment.
            let paths = files.mapValues { "\(directory)/\($0)" }
            try await GatewayProcess.with(
                backend: url, directory: directory, overrides: paths.merging(overrides) { $1 }
            ) { try await body(Stage(gateway: $0, backend: backend, directory: directory)) }
        }
    }

    @Test func `a client syncs within TLS, and the backend hears of https`() async throws {
        try await Self.with { stage in
            let pull = try await stage.curl(GatewayStack.pullTarget(), "-H", "Authorization: Bearer ada-token")
            #expect(pull.status == 0 && pull.output.contains("p-0"), "\(pull.output)")
            let stream = stage.backend.requests.last { $0.path == "/sync/stream" }
            #expect(stream?.headers["x-forwarded-proto"] == "https")
            let passed = try await stage.curl("/users/me", "-H", "Authorization: Bearer ada-token")
            #expect(passed.output.contains("ada@example.com"))
            #expect(stage.backend.requests.last { $0.path == "/users/me" }?.headers["x-forwarded-proto"] == "https")
            // A client that offers HTTP/2 gets HTTP/1.1.
            let version = try await stage.curl("/livez", "--http2", "-o", "/dev/null", "-w", "%{http_version}")
            #expect(version.output == "1.1")
        }
    }

    @Test(arguments: [("1.2", true), ("1.3", true), ("1.1", false)])
    func `only TLS 1.2 and 1.3 are spoken`(_ version: String, _ isSpoken: Bool) async throws {
        try await Self.with { stage in
            let answer = try await stage.curl(
                "/livez", "--tlsv\(version)", "--tls-max", version, "--ciphers", "DEFAULT@SECLEVEL=0")
            #expect((answer.status == 0) == isSpoken, "\(answer.output)")
            let stranger = try await stage.curl("/livez", trusting: "new")
            #expect(stranger.status == 60)
            let plain = try await Commands.run("curl", "-sS", "http://127.0.0.1:\(stage.gateway.port)/livez")
            #expect(plain.status != 0)
            #expect(try await stage.curl().status == 0)
        }
    }

    @Test func `a push with a large body, and a large answer to a slow client, come whole`() async throws {
        try await Self.with { stage in
            try await stage.backend.edit(
                (0..<20_000).map {
                    .put("tasks", ["id": .string("t-\($0)"), "name": .string("name \($0)"), "projectId": "p-0"])
                })
            async let slow = stage.curl(
                GatewayStack.pullTarget(), "-H", "Authorization: Bearer ada-token", "--limit-rate", "1M", "-w",
                "\n%{http_code} %{num_connects}")
            let fast = try await stage.curl(
                GatewayStack.pullTarget(), "-H", "Authorization: Bearer ada-token", "--compressed", "-w",
                "\n%{http_code}")
            #expect(fast.output.hasSuffix("\n200") && fast.output.contains("t-19999"))
            let answer = try await slow
            #expect(answer.status == 0 && answer.output.hasSuffix("\n200 1") && answer.output.contains("t-19999"))
            let tags = (0..<5_000).map { #"{"id":"g-\#($0)","label":"label"}"# }.joined(separator: ",")
            let body = #"{"lastPulledAt":1,"changes":{"tags":{"created":[\#(tags)],"updated":[],"deleted":[]}}}"#
            try Data(body.utf8).write(to: URL(filePath: "\(stage.directory)/push.json"))
            let pushed = try await stage.curl(
                "/sync", "-H", "Authorization: Bearer ada-token", "-H", "Content-Type: application/json",
                "--data-binary",
                "@\(stage.directory)/push.json", "-w", "\n%{http_code}")
            #expect(pushed.output.hasSuffix("\n200"), "\(pushed.output.suffix(300))")
        }
    }

    @Test func `a reload under load gives new connections the new certificate, and fails no request`() async throws {
        try await Self.with { stage in
            let target = "https://127.0.0.1:\(stage.gateway.port)\(GatewayStack.pullTarget())"
            // One connection from before the reload to long after it.
            let kept = Array(repeating: target, count: 30).flatMap { ["-o", "/dev/null", $0] }
            async let open = Commands.run(
                ["curl", "-sS", "--cacert", "\(stage.directory)/old.pem", "-H", "Authorization: Bearer ada-token"]
                    + ["--rate", "10/s", "-w", "%{http_code} %{num_connects}\\n"] + kept)
            _ = try await stage.gateway.line(with: #""message":"sync""#)
            let done = Latch()
            try Data(
                (try Data(contentsOf: URL(filePath: "\(stage.directory)/old.pem")))
                    + (try Data(contentsOf: URL(filePath: "\(stage.directory)/new.pem")))
            ).write(to: URL(filePath: "\(stage.directory)/both.pem"))
            async let loads = withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        var outcomes: [String] = []
                        while await !done.isOpen {
                            let answer = try await stage.curl(
                                GatewayStack.pullTarget(), trusting: "both", "-H", "Authorization: Bearer ada-token",
                                "-o",
                                "/dev/null", "-w", "%{http_code}")
                            outcomes.append("\(answer.status) \(answer.output)")
                        }
                        return outcomes
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            for round in 0..<6 {
                let name = round.isMultiple(of: 2) ? "new" : "old"
                try stage.install(name)
                try await stage.reload(expecting: "config.reloaded")
                #expect(try await stage.curl(trusting: name).status == 0)
                #expect(try await stage.curl(trusting: name == "new" ? "old" : "new").status == 60)
            }
            await done.open()
            let outcomes = try await loads
            #expect(Set(outcomes) == ["0 200"] && outcomes.count >= 6)
            let lines = try await open.output.split(separator: "\n")
            #expect(lines.first == "200 1" && Set(lines.dropFirst()) == ["200 0"] && lines.count == 30, "\(lines)")
        }
    }

    @Test func `a pair that cannot be used keeps the old one, and the log names file and reason`() async throws {
        try await Self.with(["admin.listen": "127.0.0.1:0"]) { stage in
            let (pem, key) = ("\(stage.directory)/tls.pem", "\(stage.directory)/tls.key")
            func refuse(_ file: String, _ reason: String) async throws {
                try await stage.reload(expecting: "config.not_reloaded")
                let line = try await stage.gateway.line(with: "tls.certificate", reason)
                #expect(line.contains(file) && line.contains(#""level":"error""#), "\(line)")
                #expect(try await stage.curl().status == 0)
            }
            try stage.install("old", key: "new")
            try await refuse("tls.key", "not that of the certificate")
            try Data("garbage".utf8).write(to: URL(filePath: key))
            try await refuse("tls.key", "no private key")
            try stage.install("old")
            try Data("garbage".utf8).write(to: URL(filePath: pem))
            try await refuse("tls.pem", "no certificate")
            try FileManager.default.removeItem(atPath: pem)
            try await refuse("tls.pem", "no such file")
            try stage.install("new")
            try await stage.reload(expecting: "config.reloaded")
            #expect(try await stage.curl(trusting: "new").status == 0)
            let metrics = try await stage.gateway.admin().send("GET", "/metrics").text
            let line = metrics.split(separator: "\n").first { $0.hasPrefix("rind_tls_certificate_expiry") }
            let expiry = line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
            #expect(abs(expiry - Date().timeIntervalSince1970 - 90 * 86_400) < 600)
        }
    }

    @Test func `a start with a pair that does not match ends, and says why`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            try await Commands.makeCertificate("old", in: directory)
            try await Commands.makeCertificate("new", in: directory)
            let url = try await backend.url
            let overrides = [
                "gateway.tls_certificate": "\(directory)/old.pem", "gateway.tls_key": "\(directory)/new.key",
            ]
            do {
                try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) { _ in }
                Issue.record("it started")
            } catch GatewayProcess.Failure.ended(let status, let said) {
                #expect(status == 78 && said.contains("new.key") && said.contains("tls.certificate"), "\(said)")
            }
        }
    }

    @Test func `a header of the PROXY protocol comes before TLS`() async throws {
        try await Self.with(["gateway.proxy_protocol": "true"]) { stage in
            let answer = try await stage.curl(
                GatewayStack.pullTarget(), "--haproxy-protocol", "-H", "Authorization: Bearer ada-token", "-w",
                "%{http_code}")
            #expect(answer.output.hasSuffix("200"))
            #expect(try await stage.curl("/livez").status != 0)
        }
    }

    @Test func `an end without notice is an end`() async throws {
        try await Self.with { stage in
            // `openssl s_client` sends no close_notify when it is killed; its request is answered before.
            let port = stage.gateway.port
            let half = try await Commands.run(
                "bash", "-c",
                "printf 'GET /livez HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' "
                    + "| timeout 20 openssl s_client -quiet -connect 127.0.0.1:\(port) 2>/dev/null")
            #expect(half.output.contains("HTTP/1.1 200"), "\(half.output)")
            #expect(try await stage.curl().status == 0)
        }
    }

    @Test func `an answer that is cut does not end as if it were whole`() async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        } _: { backend in
            try await TemporaryDirectory.with { directory in
                try await Commands.makeCertificate("old", in: directory)
                let overrides = [
                    "gateway.tls_certificate": "\(directory)/old.pem", "gateway.tls_key": "\(directory)/old.key",
                ]
                try await GatewayProcess.with(backend: backend.url, directory: directory, overrides: overrides) {
                    // For HTTP/1.0 only the end of the connection ends a body.
                    let answer = try await Commands.run(
                        "curl", "-sS", "--http1.0", "--max-time", "20", "--cacert", "\(directory)/old.pem",
                        "https://127.0.0.1:\($0.port)/file")
                    #expect([18, 56].contains(answer.status), "\(answer)")
                }
            }
        }
    }
}
