// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import Testing

/// A client and a server of the package `websockets` for Python, with the gateway between them.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: GatewayProcess.isBuilt && WebSocketPeers.areRunnable, "rind or python3-websockets is missing"))
struct WebSocketTests {
    private static let roomForMany = [
        "backend.max_connections": "1100", "limits.tunnels": "520", "limits.tunnels_per_client": "520",
    ]

    /// Runs a scenario of the client, and returns what it has seen.
    private static func run(
        _ scenario: String, _ overrides: [String: String] = [:], isTLS: Bool = false,
        _ look: (GatewayProcess) async throws -> Void = { _ in }
    ) async throws -> String {
        try await WebSocketPeers.with(isTLS: isTLS) { peers in
            let all = peers.overrides.merging(overrides) { $1 }
            return try await GatewayProcess.with(
                backend: peers.backend, directory: peers.directory, overrides: all
            ) { gateway in
                let seen = try await peers.client(scenario, port: gateway.port)
                try #require(seen.status == 0, "\(seen.output)")
                try await look(gateway)
                return seen.output
            }
        }
    }

    @Test(arguments: [false, true])
    func `a thousand messages of 1 B to 1 MB pass both ways, with what was agreed`(isTLS: Bool) async throws {
        let seen = try await Self.run("messages", isTLS: isTLS) { gateway in
            let line = try await gateway.line(with: #""status":101"#)
            #expect(line.contains(#""end":"client""#) || line.contains(#""end":"backend""#))
        }
        #expect(seen.hasPrefix("messages 1000 bytes "))
    }

    @Test(arguments: [false, true])
    func `either side may close, and the other one hears why`(isTLS: Bool) async throws {
        #expect(try await Self.run("ends", isTLS: isTLS) == "closed 4001 bye\n")
    }

    @Test(arguments: [false, true])
    func `two silent sides are closed after the idle time`(isTLS: Bool) async throws {
        let seen = try await Self.run("silent", ["limits.tunnel_idle": "1s"], isTLS: isTLS) { gateway in
            _ = try await gateway.line(with: #""status":101"#, #""end":"idle""#)
        }
        #expect(seen == "closed 1006\n")
    }

    @Test func `500 talk at a time`() async throws {
        let overrides = Self.roomForMany.merging(["admin.listen": "127.0.0.1:0"]) { $1 }
        let seen = try await Self.run("many", overrides) { gateway in
            let metrics = try await String(decoding: gateway.admin().send("GET", "/metrics").body, as: UTF8.self)
            #expect(metrics.contains("rind_tunnels_limit 520\n"))
        }
        #expect(seen == "open 500\n")
    }

    @Test func `a reload cuts no tunnel, and a drain ends it`() async throws {
        try await WebSocketPeers.with { peers in
            try await GatewayProcess.with(
                backend: peers.backend, directory: peers.directory,
                overrides: peers.overrides.merging(["gateway.shutdown_grace": "60s", "admin.listen": "127.0.0.1:0"]) {
                    $1
                }
            ) { gateway in
                async let seen = peers.client("drain", port: gateway.port)
                let admin = try await gateway.admin()
                try await eventually {
                    let metrics = try await String(decoding: admin.send("GET", "/metrics").body, as: UTF8.self)
                    return metrics.contains("rind_tunnels_open 1\n")
                }
                gateway.send(SIGHUP)
                _ = try await gateway.line(with: "config.reloaded")
                #expect(!gateway.log.contains(#""status":101"#))
                gateway.send(SIGTERM)
                #expect(try await gateway.end() == 0)
                _ = try await gateway.line(with: #""status":101"#, #""end":"drain""#)
                #expect(try await seen.output == "open\nclosed 1006\n")
            }
        }
    }
}

/// The programs of `Tests/Fixtures/websocket`.
private struct WebSocketPeers: Sendable {
    /// What the gateway is told of the server.
    let backend: String
    let overrides: [String: String]
    /// The directory for all files.
    let directory: String
    private let program: String

    private static let folder = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "Fixtures/websocket")

    /// The first Python that has the package; it is Debian's, whatever else is in front of it.
    private static let python: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/bin"]).map { "\($0)/python3" }.first { program in
            guard FileManager.default.isExecutableFile(atPath: program) else { return false }
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = ["-c", "import websockets"]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }()

    /// True if they can run; build machines must have what they need.
    static var areRunnable: Bool { python != nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    /// Runs the server around the body; with TLS, so does the gateway, towards both sides.
    static func with<Value>(isTLS: Bool = false, _ body: (WebSocketPeers) async throws -> Value) async throws -> Value {
        let program = try #require(python, "python3-websockets is not installed")
        return try await TemporaryDirectory.with { directory in
            let (pem, key) = ("\(directory)/peer.pem", "\(directory)/peer.key")
            if isTLS { try await Commands.makeCertificate("peer", in: directory) }
            let said = URL(filePath: directory).appending(path: "server-said")
            try Data().write(to: said)
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = [folder.appending(path: "server.py").path] + (isTLS ? [pem, key] : [])
            process.standardOutput = try FileHandle(forWritingTo: said)
            process.standardError = FileHandle.nullDevice
            try process.run()
            defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
            var port: Int?
            try await eventually {
                let text = try String(contentsOf: said, encoding: .utf8)
                port = text.firstMatch(of: /port (\d+)\n/).flatMap { Int($0.output.1) }
                return port != nil || !process.isRunning
            }
            let paths = ["gateway.tls_certificate": pem, "gateway.tls_key": key, "backend.ca_file": pem]
            return try await body(
                WebSocketPeers(
                    backend: try "\(isTLS ? "https" : "http")://127.0.0.1:\(#require(port))/base",
                    overrides: isTLS ? paths : [:], directory: directory, program: program))
        }
    }

    /// Runs a scenario of the client to its end.
    func client(_ scenario: String, port: Int) async throws -> Commands.Result {
        let authority = overrides["backend.ca_file"]
        return try await Commands.run(
            ["env", program, Self.folder.appending(path: "client.py").path, scenario]
                + ["\(authority == nil ? "ws" : "wss")://127.0.0.1:\(port)"] + [authority].compactMap(\.self))
    }
}
