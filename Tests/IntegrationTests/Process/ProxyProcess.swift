// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import NIOCore
import NIOPosix
import PostgresTesting
import Testing

/// A proxy before a gateway, with its configuration from `examples/proxies`, but without TLS.
struct ProxyProcess {
    /// A proxy program.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case nginx, haproxy

        var testDescription: String { rawValue }

        fileprivate var program: String? {
            ["/usr/sbin/", "/usr/local/sbin/", "/usr/bin/"].map { $0 + rawValue }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }

        /// Those that there are to run; build machines must have all.
        static var installed: [Kind] {
            allCases.filter { $0.program != nil || ProcessInfo.processInfo.environment["CI"] == "true" }
        }
    }

    /// Where clients reach it.
    let port: Int

    /// The gateway behind it.
    struct Gateway {
        let port: Int
        let admin: Int
    }

    /// Runs it around the body.
    ///
    /// Its timeout and its buffer are to the tests' timeout of 10 s as the documented ones are to the default.
    static func with<Value>(
        _ kind: Kind, before gateway: Gateway, directory: String, _ body: (ProxyProcess) async throws -> Value
    ) async throws -> Value {
        let program = try #require(kind.program, "\(kind.rawValue) is not installed")
        let port = try PostgresServer.freePort()
        let file = "\(directory)/\(kind.rawValue).conf"
        let text =
            switch kind {
            case .nginx: try nginx(before: gateway, port: port, directory: directory)
            case .haproxy: try haproxy(before: gateway, port: port)
            }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments =
            switch kind {
            case .nginx: ["-p", directory, "-c", file, "-e", "\(directory)/nginx.log"]
            case .haproxy: ["-db", "-f", file]
            }
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        do {
            try await eventually { await isListening(port) }
            let value = try await body(ProxyProcess(port: port))
            try await end(process)
            return value
        } catch {
            try await end(process)
            throw error
        }
    }

    private static func nginx(before gateway: Gateway, port: Int, directory: String) throws -> String {
        let server = try example(
            "nginx.conf",
            [
                "listen 443 ssl sndbuf=128k;": "listen 127.0.0.1:\(port) sndbuf=8k;",
                "ssl_certificate     /etc/ssl/sync.example.com.pem;": "",
                "ssl_certificate_key /etc/ssl/sync.example.com.key;": "",
                "http://127.0.0.1:8790": "http://127.0.0.1:\(gateway.port)",
            ])
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

    private static func haproxy(before gateway: Gateway, port: Int) throws -> String {
        try example(
            "haproxy.cfg",
            [
                "bind :443 ssl crt /etc/ssl/sync.example.com.pem alpn h2,http/1.1": "bind 127.0.0.1:\(port)",
                "tune.sndbuf.client 131072": "tune.sndbuf.client 8192",
                "tune.rcvbuf.server 131072": "tune.rcvbuf.server 8192",
                "127.0.0.1:8790 check port 8792 inter 2s":
                    "127.0.0.1:\(gateway.port) check port \(gateway.admin) inter 200ms",
            ])
    }

    /// Returns the text of an example with some of it replaced; all of that must be there.
    private static func example(_ name: String, _ replacements: [String: String]) throws -> String {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        var text = try String(contentsOf: root.appending(path: "examples/proxies/\(name)"), encoding: .utf8)
        for (old, new) in replacements {
            #expect(text.contains(old))
            text = text.replacing(old, with: new)
        }
        return text
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
