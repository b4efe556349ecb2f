// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import DemoBackend
import Foundation
import Gateway
import GatewayConfig
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import rind

/// `rind check --connect --checklist` before the demo backend, and before one that breaks its points.
@Suite(.timeLimit(.minutes(5))) struct ChecklistTests {
    private static func check(
        _ url: String, _ arguments: [String] = ["--write"], configuration: String = Place.quickstart,
        variables: [String: String] = [:]
    ) async throws -> Finished {
        try await Place.withDirectory { directory in
            try await RunningCommand.run(
                [
                    "check", "--config", configuration, "--connect", "--header", "Authorization: Bearer ada-token",
                    "--checklist",
                ] + arguments,
                environment: variables.merging(["RIND_BACKEND_URL": url]) { $1 }, directory: directory
            )
        }
    }

    /// The checklist's lines without the verdict, by the verdict.
    private static func points(_ result: Finished) -> [String: [String]] {
        var points: [String: [String]] = [:]
        for line in result.out.split(separator: "\n") {
            guard let match = line.wholeMatch(of: #/(ok|note|wrong) +point +(.*)/#) else { continue }
            points[String(match.1), default: []].append(String(match.2))
        }
        return points
    }

    /// The points of the page, each in one line.
    private static func page() throws -> [String] {
        try Place.text("docs/BACKEND-PROTOCOL.md").split(separator: "\n- [ ] ").dropFirst().map { point in
            let lines = (point.split(separator: "\n\n").first ?? "").split(separator: "\n")
            return lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
        }
    }

    private static func seed(_ backend: DemoBackend) async throws {
        try await backend.edit(
            [.put("projects", ["id": "p-1", "name": "one"])]
                + (0..<40).map { .put("tasks", ["id": .string("t-\($0)"), "projectId": "p-1", "name": "a task"]) }
                + (0..<3).map { .put("tags", ["id": .string("tag-\($0)"), "label": "a tag"]) })
    }

    @Test func `a backend that passes is told so, point by point in the words of the page`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            let before = try await backend.records()
            let result = try await Self.check(try await backend.url)
            #expect(result.status == 0, "\(result.out)\(result.error)")
            let points = Self.points(result)
            #expect(points["ok"]?.count == 7 && points["wrong"] == nil, "\(result.out)")
            #expect(
                points["note"]?.first == "not tried, the account has 44 lines: \(ChecklistPoint.emptyAccount.sentence)")
            // The record that was made is gone again.
            #expect(try await backend.records() == before)
            let readOnly = try await Self.check(try await backend.url, [])
            #expect(readOnly.status == 0 && Self.points(readOnly)["ok"]?.count == 3, "\(readOnly.out)")
        }
    }

    @Test func `the points are those of the page`() throws {
        #expect(ChecklistPoint.allCases.map(\.sentence) == (try Self.page()))
    }

    @Test func `an empty account passes, and shows less`() async throws {
        try await DemoBackend.withRunning { backend in
            let result = try await Self.check(try await backend.url)
            let points = Self.points(result)
            #expect(result.status == 0 && points["ok"]?.contains(ChecklistPoint.emptyAccount.sentence) == true)
            #expect(points["ok"]?.count == 7, "\(result.out)")
        }
    }

    @Test func `a line without an end ends the check at max_line, and each byte is looked at once`() async throws {
        // A line that is looked through again with each chunk would take longer than the suite may.
        let line = String(repeating: "x", count: 65 << 20)
        let streams = NIOLockedValueBox(0)
        let script: ScriptedServer.Script = { request, head, body in
            guard request.path == "/sync/stream" else { return Self.lists(request, head, body) }
            let number = streams.withLockedValue { streams in
                streams += 1
                return streams
            }
            // The first three are those of the check before the checklist.
            return number <= 3 ? Self.lists(request, head, body) : .json(line)
        }
        try await ScriptedServer.with(reading: script) { server in
            let configuration = Place.root.appending(path: "examples/python-backend/rind.ini")
            let result = try await Self.check(
                server.url, [], configuration: configuration.path(percentEncoded: false),
                variables: ["RIND_PULL_MAX_LINE": "64MiB"])
            #expect(result.out.contains("before that, a line is longer than [pull] max_line"), "\(result.out)")
        }
    }

    @Test func `a push that fails is told with its code, and the record is deleted all the same`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            let before = try await backend.records()
            backend.inject(DemoFault("POST", "/sync/push", skipping: 3, action: .status(500)))
            let result = try await Self.check(try await backend.url)
            #expect(result.status == 1 && result.out.contains("(backend.failed)"), "\(result.out)")
            #expect(!result.out.contains("left behind"))
            #expect(backend.count("POST", "/sync/push") == 5)
            #expect(try await backend.records() == before)
        }
    }

    @Test func `a create whose answer is lost may have left its record behind`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            backend.inject(DemoFault("POST", "/sync/push", skipping: 2, times: 9, action: .status(500)))
            let result = try await Self.check(try await backend.url)
            #expect(result.out.contains("POST /sync/push: the backend failed (500) (backend.failed)"), "\(result.out)")
            #expect(result.out.contains("left behind: 'rindtest"), "\(result.out)")
        }
    }

    @Test func `a backend whose complete line keeps its token passes`() async throws {
        try await ScriptedServer.with(reading: Self.lists) { server in
            let configuration = Place.root.appending(path: "examples/python-backend/rind.ini")
            let result = try await Self.check(
                server.url, [], configuration: configuration.path(percentEncoded: false))
            #expect(result.status == 0, "\(result.out)\(result.error)")
            #expect(Self.points(result)["ok"]?.contains(ChecklistPoint.confirmed.sentence) == true, "\(result.out)")
        }
    }

    /// Streams two lists after the checkpoint of the request, and always the same complete line.
    @Sendable private static func lists(
        _ request: ScriptedServer.Request, _ head: String, _ body: String
    ) -> ScriptedServer.Answer {
        guard request.isSignedIn else { return .status("401 No") }
        guard request.path == "/sync/stream" else { return .json(#"{"id":"ada"}"#) }
        guard !body.contains("RindChecklist") else { return .status("400 Bad Request") }
        let confirmed = body.firstMatch(of: #/"ListV1\|(\d)"/#).flatMap { Int($0.1) } ?? 0
        let lines = (1...2).filter { $0 > confirmed }.map {
            #"{"type":"ListV1","data":{"id":"l\#($0)","title":"a","createdAt":"2026-01-01T00:00:00Z"},"ack":"ListV1|\#($0)"}"#
        }
        let end = #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|2"}"#
        return .json((lines + [end]).map { $0 + "\n" }.joined())
    }

    @Test func `a record that cannot be deleted again is named`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            backend.inject(DemoFault("POST", "/sync/push", skipping: 3, times: 9, action: .status(500)))
            let result = try await Self.check(try await backend.url)
            #expect(result.status == 1 && result.out.contains(#/left behind: 'rindtest[0-9a-z]{8}' of '[a-z]+'/#))
        }
    }

    @Test func `a record whose delete is refused is named`() async throws {
        let refusing = Fault.body("deletes are refused", []) {
            $0.replacing(#/"op":"delete","table":"[a-z]+"/#, with: #""op":"delete","table":"none""#)
        }
        let wrong = try await Self.wrong(refusing)
        #expect(wrong.contains { $0.hint?.contains(#/left behind: 'rindtest[0-9a-z]{8}' of '[a-z]+'/#) == true })
    }

    @Test func `a point that was tried in part is not said to hold`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            let result = try await Self.check(
                try await backend.url, variables: ["RIND_PUSH_CONFLICTS": "stream"])
            let notes = Self.points(result)["note"] ?? []
            for (point, reason) in [
                (ChecklistPoint.oldBase, "no base is sent with 'conflicts = stream'"),
                (.cut, "half of a stream was dropped, and no line broken off"),
            ] {
                #expect(notes.contains("tried in part, \(reason): \(point.sentence)"), "\(result.out)")
            }
            #expect(result.status == 0)
        }
    }

    @Test func `pushes by calls are left to the command for endpoints, and nothing is written`() async throws {
        try await DemoBackend.withRunning { backend in
            let before = try await backend.records()
            let configuration = Place.root.appending(path: "examples/integer-ids/rind.ini").path(percentEncoded: false)
            let result = try await Self.check(try await backend.url, configuration: configuration)
            let notes = try #require(Self.points(result)["note"])
            #expect(notes.count { $0.contains("rind conform --write") } == 4, "\(result.out)\(result.error)")
            #expect(try await backend.records() == before)
        }
    }

    /// A fault of a backend, as a change of the requests to a right one.
    struct Fault: CustomTestStringConvertible, Sendable {
        var name: String
        var points: Set<ChecklistPoint>
        var path: String
        var change: @Sendable (inout CurlRequest) -> Void
        var testDescription: String { name }

        static func body(
            _ name: String, _ points: Set<ChecklistPoint>, path: String = "/sync/push",
            _ change: @escaping @Sendable (String) -> String
        ) -> Self {
            Fault(name: name, points: points, path: path) { request in
                guard case .bytes(let bytes) = request.body else { return }
                request.body = .bytes(ByteBuffer(string: change(String(buffer: bytes))))
            }
        }

        static let all: [Fault] = [
            Fault(name: "checkpoints are not kept", points: [.confirmed, .oneLineEach], path: "/sync/ack") { request in
                guard request.method == .post else { return }
                request.url = request.url.replacing("/sync/ack", with: "/users/me")
                (request.method, request.body) = (.get, .none)
            },
            .body("unknown types are ignored", [.unknownType], path: "/sync/stream") {
                $0.replacing(#","RindChecklistV1""#, with: "")
            },
            Fault(name: "keys are ignored", points: [.sameKey], path: "/sync/push") { request in
                guard let name = HTTPField.Name("Idempotency-Key") else { return }
                request.fields[name] = UUID().uuidString
            },
            Fault(name: "another body gets another refusal", points: [.sameKey], path: "/sync/push") { request in
                guard case .bytes(let bytes) = request.body, let name = HTTPField.Name("Idempotency-Key"),
                    String(buffer: bytes).contains(#/"create".*rindtest[0-9a-z]+ 5"/#)
                else { return }
                (request.fields[name], request.body) = (UUID().uuidString, .bytes(ByteBuffer(string: "none\n")))
            },
            .body("the base is ignored", [.oldBase]) { $0.replacing(#/,"base":"[^"]*"/#, with: "") },
            .body("updates are not kept", [.oneLineEach]) {
                $0.replacing(#/"data":\{"[a-z]+":"rindtest[0-9a-z]+ [234]"\}/#, with: #""data":{}"#)
            },
        ]
    }

    @Test(arguments: Fault.all) func `a point that does not hold is named`(_ fault: Fault) async throws {
        let wrong = try await Self.wrong(fault)
        let named = wrong.map(\.text)
        #expect(fault.points.allSatisfy { named.contains($0.sentence) }, "\(wrong)")
        #expect(wrong.allSatisfy { $0.hint?.isEmpty == false })
    }

    /// The findings about a backend with a fault.
    private static func wrong(_ fault: Fault) async throws -> [CheckFinding] {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            let text = try Place.text("examples/quickstart/rind.ini")
            let configuration = try Configuration.load(text, environment: ["RIND_BACKEND_URL": try await backend.url])
            let reactor = try CurlReactor.start(configuration.reactorSettings)
            let client = BackendClient(
                settings: configuration.backendSettings, transport: FaultyTransport(reactor: reactor, fault: fault),
                clock: SystemClock(), logger: .silent)
            let fields: HTTPFields = [.authorization: "Bearer ada-token"]
            let credentials = configuration.forwardingRule.credentials(of: fields, isPeerTrusted: true)
            var run = ChecklistRun(configuration, client: client, credentials)
            let wrong = await run.run(writes: true).filter { $0.verdict == .wrong }
            await reactor.shutdown()
            return wrong
        }
    }
}

/// Sends each request as a backend with a fault would have understood it.
private struct FaultyTransport: HTTPTransport {
    let reactor: CurlReactor
    let fault: ChecklistTests.Fault

    private func changed(_ request: CurlRequest) -> CurlRequest {
        var request = request
        if request.url.contains(fault.path) { fault.change(&request) }
        return request
    }

    func execute(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
        try await reactor.execute(changed(request))
    }

    func perform<Result>(
        _ request: CurlRequest, _ use: (CurlResponse) async throws -> Result
    ) async throws -> Result { try await reactor.perform(changed(request), use) }
}
