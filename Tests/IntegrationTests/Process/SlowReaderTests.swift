// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// Phones on bad networks read slowly and steadily, for much longer than any timeout.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct SlowReaderTests {
    private static let size = 20 << 20
    private static let overrides = ["limits.send_timeout": "10s"]
    /// Much longer than the timeout.
    private static let seconds = 25.0

    /// Every rate, with a small and a large socket buffer each.
    ///
    /// Of a large one's content nothing shows before a good part of it is read. So it holds what its reader takes in
    /// three seconds, which is to the timeout here as a third of a mebibyte at 4 KiB/s is to the default.
    private static let readers = [4, 8, 32, 96].flatMap { rate in
        [4 << 10, rate * 1_500].map { SlowReader(rate: rate << 10, buffer: $0, seconds: seconds) }
    }

    /// Reads one answer with each of them at the same time.
    private static func expectAllWhole(_ port: Int) async throws {
        let request = "GET /media HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        try await withThrowingTaskGroup(of: (SlowReader, SlowReader.Outcome).self) { group in
            for reader in readers {
                group.addTask { (reader, try await reader.read(port: port, request: request)) }
            }
            for try await (reader, outcome) in group {
                let who = "\(reader.rate >> 10) KiB/s, buffer \(reader.buffer >> 10) KiB: \(outcome.count) bytes"
                #expect(outcome.failure == nil, "\(who)")
                #expect(outcome.count > size && outcome.count < size + 2_000, "\(who)")
            }
        }
    }

    /// The lines of requests, as soon as there are so many.
    private static func lines(_ gateway: GatewayProcess, _ message: String, count: Int) async throws -> [Substring] {
        func found() -> [Substring] {
            gateway.log.split(separator: "\n").filter { $0.contains(#""message":"\#(message)""#) }
        }
        try await eventually { found().count == count }
        return found()
    }

    @Test func `a steady reader gets its answer to the last byte, however slow it is`() async throws {
        let backend = BulkServer(size: Self.size)
        try await TemporaryDirectory.with { directory in
            try await backend.run { url in
                try await GatewayProcess.with(
                    backend: url, directory: directory, overrides: Self.overrides
                ) { gateway in
                    try await Self.expectAllWhole(gateway.port)
                    let lines = try await Self.lines(gateway, "request", count: Self.readers.count)
                    #expect(lines.allSatisfy { $0.contains(#""status":200"#) && !$0.contains("cut") })
                }
            }
        }
    }

    @Test(arguments: ProxyProcess.Kind.installed)
    func `a steady reader gets its answer to the last byte through a documented proxy`(
        kind: ProxyProcess.Kind
    ) async throws {
        let backend = BulkServer(size: Self.size)
        try await TemporaryDirectory.with { directory in
            try await backend.run { url in
                try await GatewayProcess.with(
                    backend: url, directory: directory,
                    overrides: Self.overrides.merging(["admin.listen": "127.0.0.1:0"]) { $1 }
                ) { gateway in
                    let behind = ProxyProcess.Gateway(port: gateway.port, admin: try await gateway.admin().port)
                    try await ProxyProcess.with(kind, before: behind, directory: directory) { proxy in
                        try await Self.expectAllWhole(proxy.port)
                    }
                    let lines = try await Self.lines(gateway, "request", count: Self.readers.count)
                    #expect(lines.allSatisfy { $0.contains(#""status":200"#) && !$0.contains("cut") })
                }
            }
        }
    }

    @Test func `a first sync that is read slowly arrives as a whole`() async throws {
        try await GatewayStack.withBackend { backend, directory in
            var seed = DemoSeed()
            seed.tasks = 10_000
            try await backend.seed(seed)
            let url = try await backend.url
            try await GatewayProcess.with(backend: url, directory: directory, overrides: Self.overrides) { gateway in
                let reader = SlowReader(rate: 32 << 10, buffer: 8 << 10, seconds: Self.seconds)
                let request =
                    "GET /sync?schema_version=3 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ada-token\r\nConnection: close\r\n\r\n"
                let outcome = try await reader.read(port: gateway.port, request: request)
                #expect(outcome.failure == nil && outcome.count > 1 << 20)
                // The last chunk.
                #expect(String(decoding: outcome.tail, as: UTF8.self).hasSuffix("}\r\n0\r\n\r\n"))
                let line = try #require(try await Self.lines(gateway, "sync", count: 1).first)
                #expect(line.contains(#""status":200"#) && !line.contains("cut"))
            }
        }
    }

    @Test func `a reader that stops is cut, and the log does not call its answer whole`() async throws {
        let backend = BulkServer(size: Self.size)
        try await TemporaryDirectory.with { directory in
            try await backend.run { url in
                let overrides = ["limits.send_timeout": "1s"]
                try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) { gateway in
                    let reader = SlowReader(rate: 8 << 10, buffer: 8 << 10, seconds: 0)
                    async let outcome = reader.read(
                        port: gateway.port, request: "GET /media HTTP/1.1\r\nHost: a\r\n\r\n", pause: .seconds(4))
                    let line = try #require(try await Self.lines(gateway, "request", count: 1).first)
                    #expect(line.contains(#""status":499"#) && line.contains(#""code":"request.client_too_slow""#))
                    #expect(line.contains(#""cut":true"#))
                    #expect(try await outcome.count < Self.size)
                }
            }
        }
    }
}
