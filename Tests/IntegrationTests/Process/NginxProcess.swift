// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import NIOCore
import NIOPosix
import Testing

/// nginx before a gateway, as OPERATIONS.md says, but without TLS.
struct NginxProcess {
    /// Where clients reach it.
    let port: Int

    private static let paths = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
    private static var program: String? { paths.first { FileManager.default.isExecutableFile(atPath: $0) } }

    /// Whether there is an nginx to run; build machines must have one.
    static var isInstalled: Bool { program != nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    /// Runs it around the body.
    static func with<Value>(
        gateway: Int, directory: String, _ body: (NginxProcess) async throws -> Value
    ) async throws -> Value {
        let program = try #require(program, "nginx is not installed")
        let port = try await freePort()
        let file = "\(directory)/nginx.conf"
        try configuration(gateway: gateway, port: port, directory: directory)
            .write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["-p", directory, "-c", file, "-e", "\(directory)/nginx.log"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        do {
            try await eventually { await isListening(port) }
            let value = try await body(NginxProcess(port: port))
            try await end(process)
            return value
        } catch {
            try await end(process)
            throw error
        }
    }

    /// The documented server, with its buffer as small to the tests' timeout as the documented one is to the default.
    private static func configuration(gateway: Int, port: Int, directory: String) throws -> String {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "docs/OPERATIONS.md"), encoding: .utf8)
        let start = try #require(page.firstRange(of: "```nginx\n"))
        let end = try #require(page[start.upperBound...].firstRange(of: "```"))
        var server = String(page[start.upperBound..<end.lowerBound])
        for (old, new) in [
            ("listen 443 ssl sndbuf=128k;", "listen 127.0.0.1:\(port) sndbuf=8k;"),
            ("http://127.0.0.1:8790", "http://127.0.0.1:\(gateway)"),
        ] {
            #expect(server.contains(old))
            server = server.replacing(old, with: new)
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(directory)/\($0);"
        }
        return """
            daemon off; master_process off; pid \(directory)/nginx.pid;
            events { worker_connections 64; }
            http { access_log off; \(temporary.joined(separator: " "))
            \(server)
            }
            """
    }

    private static func freePort() async throws -> Int {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress?.port ?? 0
        try await server.close()
        return port
    }

    private static func isListening(_ port: Int) async -> Bool {
        let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        try? await channel?.close()
        return channel != nil
    }

    private static func end(_ process: Process) async throws {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try await eventually { !process.isRunning }
    }
}
