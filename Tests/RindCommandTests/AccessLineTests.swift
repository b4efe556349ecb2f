// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import DemoBackend
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

@Suite struct AccessLineTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test func `the line names the client, its trace, and how the backend answered; the backend gets the trace`()
        async throws
    {
        let heads = NIOLockedValueBox<[String]>([])
        try await ScriptedServer.with(reading: { _, head, _ in
            heads.withLockedValue { $0.append(head.lowercased()) }
            return .status("503 Service Unavailable")
        }) { backend in
            try await Place.withDirectory { directory in
                let command = try ServedGateway.start(in: directory, backend: backend.url)
                defer { command.signal(SIGKILL) }
                let text = await command.errorMatch("listener=clients port=[0-9]+")
                let port = try #require(text.flatMap { Int($0.drop { !$0.isNumber }) })
                let fields: HTTPFields = [
                    .authorization: "Bearer x",
                    try #require(HTTPField.Name("traceparent")): "00-\(Self.trace)-00f067aa0ba902b7-01",
                    try #require(HTTPField.Name("tracestate")): "congo=t61",
                    try #require(HTTPField.Name("x-forwarded-for")): "6.6.6.6, 192.0.2.7",
                ]
                try await Self.get("http://127.0.0.1:\(port)/sync?last_pulled_at=null", fields)
                let line = try #require(await command.errorMatch("warning +sync .*\n"))
                for field in ["client=192.0.2.7", "trace_id=\(Self.trace)", "backend_status=503", "status=503"] {
                    #expect(line.contains(field + " ") || line.hasSuffix(field + "\n"), "\(field) in \(line)")
                }
            }
        }
        let head = try #require(heads.withLockedValue(\.self).first)
        #expect(head.firstMatch(of: try Regex("traceparent: 00-\(Self.trace)-[0-9a-f]{16}-01")) != nil, "\(head)")
        #expect(!head.contains("00f067aa0ba902b7"), "the span is the gateway's own")
        #expect(head.contains("tracestate: congo=t61"))
    }

    @Test func `SIGUSR1 logs at debug, and SIGUSR2 at the configured level again`() async throws {
        try await DemoBackend.withRunning { backend in
            try await ServedGateway.with(backend) { gateway in
                #expect(try await gateway.get("/livez").status == 200)
                gateway.command.signal(SIGUSR1)
                #expect(await gateway.command.errorMatch("to_level=debug") != nil)
                #expect(try await gateway.get("/livez?a").status == 200)
                #expect(await gateway.command.errorMatch("debug +request .*path=/livez") != nil)
                gateway.command.signal(SIGUSR2)
                #expect(await gateway.command.errorMatch("to_level=info") != nil)
                let before = gateway.command.errorText
                #expect(try await gateway.get("/livez").status == 200)
                _ = try await gateway.get("/sync?last_pulled_at=null")
                _ = await gateway.command.errorMatch("code=request.not_signed_in")
                let since = gateway.command.errorText.dropFirst(before.count)
                #expect(!since.contains(" debug "), "\(since)")
            }
        }
    }

    private static func get(_ url: String, _ fields: HTTPFields) async throws {
        let reactor = try CurlReactor.start()
        let result: Result<CurlResponse, any Error>
        do { result = .success(try await reactor.execute(CurlRequest(url: url, fields: fields))) } catch {
            result = .failure(error)
        }
        if case .success(let response) = result { _ = try? await response.body.collect(upTo: 1 << 20) }
        await reactor.shutdown()
        _ = try result.get()
    }
}
