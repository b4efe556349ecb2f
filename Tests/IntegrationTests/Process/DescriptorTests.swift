// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import GatewayTesting
import Glibc
import NIOCore
import NIOPosix
import Testing

/// A gateway with few descriptors.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct DescriptorTests {
    /// Connections that say nothing.
    private static func withConnections<Value>(
        _ count: Int, to port: Int, _ body: () async throws -> Value
    ) async throws -> Value {
        var channels: [any Channel] = []
        for _ in 0..<count {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false).connect(host: "127.0.0.1", port: port).get()
            channels.append(channel)
        }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        for channel in channels { try? await channel.close() }
        return try result.get()
    }

    @Test func `the limit of descriptors is raised at the start`() async throws {
        try await TemporaryDirectory.with { directory in
            try await GatewayProcess.with(
                backend: "http://127.0.0.1:1", directory: directory, softDescriptors: 100
            ) { gateway in
                let limit = try #require(gateway.descriptorLimit)
                #expect(limit.soft > 4_096 || limit.soft == limit.hard)
            }
        }
    }

    @Test func `connections beyond the limit are answered 503, and those within are served`() async throws {
        try await TemporaryDirectory.with { directory in
            let overrides = ["limits.connections": "20"]
            try await GatewayProcess.with(
                backend: "http://127.0.0.1:1", directory: directory, overrides: overrides
            ) { gateway in
                try await Self.withConnections(20, to: gateway.port) {
                    for _ in 0..<3 {
                        let outcome = try await gateway.http.send("GET", "/livez").outcome
                        #expect(outcome == "503 limit.connections")
                    }
                    let lines = gateway.log.split(separator: "\n").filter { $0.contains("limit.connections") }
                    #expect(lines.count == 1, "once in a while")
                }
                try await eventually { try await gateway.http.send("GET", "/livez").status == 200 }
            }
        }
    }

    @Test func `a listener without descriptors waits for some, says so once, and takes no core`() async throws {
        try await TemporaryDirectory.with { directory in
            try await GatewayProcess.with(backend: "http://127.0.0.1:1", directory: directory) { gateway in
                #expect(try await gateway.http.send("GET", "/livez").status == 200)
                let limit = try #require(gateway.descriptorLimit)
                try gateway.limitDescriptors(to: 8)
                try await Self.withConnections(3, to: gateway.port) {
                    try await eventually { gateway.log.contains("server.accept") }
                    let before = try #require(gateway.processorTime)
                    try await Task.sleep(for: .seconds(3))
                    let used = try #require(gateway.processorTime) - before
                    #expect(used < 0.3, "\(used) s of 3")
                    #expect(gateway.log.split(separator: "\n").count { $0.contains("server.accept") } == 1)
                }
                try gateway.limitDescriptors(to: limit.soft)
                #expect(try await gateway.http.send("GET", "/livez").status == 200)
            }
        }
    }
}

extension GatewayProcess {
    /// How many descriptors it may have: the soft limit and the hard one.
    fileprivate var descriptorLimit: (soft: Int, hard: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/\(processIdentifier)/limits", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") })
        else { return nil }
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }

    /// Changes the soft limit while it runs; with util-linux, which every Debian has.
    fileprivate func limitDescriptors(to soft: Int) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/prlimit")
        process.arguments = ["--pid", "\(processIdentifier)", "--nofile=\(soft):"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// How many seconds of a processor it has used.
    fileprivate var processorTime: Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(processIdentifier)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // proc(5): utime and stime, the 14th and 15th field, in ticks.
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
#endif
