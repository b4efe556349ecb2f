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
        _ url: String, _ arguments: [String] = ["--write"], second: String? = nil,
        configuration: String = Place.quickstart, variables: [String: String] = [:]
    ) async throws -> Finished {
        try await Place.withDirectory { directory in
            try await RunningCommand.run(
                [
                    "check", "--config", configuration, "--connect", "--header", "Authorization: Bearer ada-token",
                    "--checklist",
                ] + arguments + (second.map { ["-H", "Authorization: Bearer \($0)"] } ?? []),
                environment: variables.merging(["RIND_BACKEND_URL": url]) { $1 }, directory: directory
            )
        }
    }

    /// The sentences of the table's points, by the result.
    private static func points(_ result: Finished) -> [String: [String]] {
        Dictionary(grouping: rows(result), by: \.result).mapValues { $0.map(\.sentence) }
    }

    /// What the table says of a point beside its result.
    private static func remark(on point: ChecklistPoint, _ result: Finished) -> String? {
        rows(result).first { $0.sentence == point.sentence }?.remark
    }

    private static func rows(_ result: Finished) -> [(result: String, sentence: String, remark: String)] {
        result.out.split(separator: "\n").compactMap { line in
            guard let match = line.wholeMatch(of: #/\| +\d+ \| (ok|wrong|in part|untried) +\| (.*) \| (.*) \|/#) else {
                return nil
            }
            return (String(match.1), String(match.2), String(match.3))
        }
    }

    /// The points of the page, each in one line.
    private static func page() throws -> [String] {
        try Place.text("docs/BACKEND-PROTOCOL.md").split(separator: #/\n\d+\. \[ \] /#).dropFirst().map { point in
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

    /// The same with a project that another user sees, too, and one that they do not see.
    private static func seedTwo(_ backend: DemoBackend) async throws {
        try await seed(backend)
        try await backend.edit(
            .share(project: "p-1", with: "bob@example.com"), .put("projects", ["id": "p-2", "name": "two"]))
    }

    @Test func `a backend that passes is told so, point by point in the words of the page`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            let before = try await backend.records()
            let result = try await Self.check(try await backend.url)
            #expect(result.status == 0, "\(result.out)\(result.error)")
            let points = Self.points(result)
            #expect(points["ok"]?.count == 8 && points["wrong"] == nil, "\(result.out)")
            #expect(Self.remark(on: .emptyAccount, result)?.hasPrefix("the account has 45 lines (") == true)
            #expect(points.values.reduce(0) { $0 + $1.count } == ChecklistPoint.allCases.count)
            // A ticket shows the table if it stands alone.
            #expect(result.out.contains("\n\n|  # | result   |") && result.out.hasSuffix(" |\n"))
            // The record that was made is gone again.
            #expect(try await backend.records() == before)
            let readOnly = try await Self.check(try await backend.url, [])
            #expect(readOnly.status == 0 && Self.points(readOnly)["ok"]?.count == 4, "\(readOnly.out)")
        }
    }

    @Test func `a second user shows what each of the two must not see`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seedTwo(backend)
            let before = try await backend.records()
            let result = try await Self.check(try await backend.url, second: "bob-token")
            let points = Self.points(result)
            #expect(points["wrong"] == nil && result.status == 0, "\(result.out)\(result.error)")
            #expect(Self.remark(on: .otherUsers, result)?.hasPrefix("with a record of '") == true, "\(result.out)")
            #expect(Self.remark(on: .movedRecord, result) == "a record without descendants was moved")
            #expect(try await backend.records() == before)
            let readOnly = try await Self.check(try await backend.url, [], second: "bob-token")
            #expect(Self.remark(on: .movedRecord, readOnly) == "needs --write")
            let alone = try await Self.check(try await backend.url)
            #expect(Self.remark(on: .otherUsers, alone)?.contains("give the field of the credential twice") == true)
        }
    }

    @Test func `a second session of the user shows whether checkpoints are apart`() async throws {
        var configuration = DemoConfiguration()
        configuration.accounts[0].tokens = ["ada-token", "ada-tablet"]
        try await DemoBackend.withRunning(configuration) { backend in
            try await Self.seed(backend)
            let result = try await Self.check(try await backend.url, [], second: "ada-tablet")
            #expect(Self.points(result)["ok"]?.contains(ChecklistPoint.twoSessions.sentence) == true, "\(result.out)")
            // One token twice is one session twice.
            let same = try await Self.check(try await backend.url, [], second: "ada-token")
            #expect(
                same.status == 64 && same.error.contains("The second credential is the first one."), "\(same.error)")
            // Where nothing says that the two are one user, one sees the other's records.
            let unknown = try await Self.check(
                try await backend.url, second: "ada-tablet", variables: ["RIND_IDENTITY_PRINCIPAL": "bearer"])
            #expect(Self.points(unknown)["wrong"] == [ChecklistPoint.otherUsers.sentence], "\(unknown.out)")
        }
    }

    @Test func `a stream that is behind a push is waited for, and the table says how long`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            let url = try await backend.url
            async let checked = Self.check(url)
            // The first two ask what becomes of pushes; the third creates the record.
            for count in [2, 3] {
                while backend.count("POST", "/sync/push") < count { try await Task.sleep(for: .milliseconds(2)) }
                if count == 2 { try backend.fallBehind() }
            }
            try await Task.sleep(for: .milliseconds(400))
            backend.catchUp()
            let result = try await checked
            #expect(Self.points(result)["wrong"] == nil, "\(result.out)")
            #expect(Self.remark(on: .laggingReplica, result)?.contains("ms behind a push") == true, "\(result.out)")
        }
    }

    @Test func `a checklist that cannot be tried yet says so, and a refusal is shown in the backend's words`()
        async throws
    {
        try await DemoBackend.withRunning { backend in
            backend.inject(DemoFault("POST", "/sync/stream", action: .status(400, message: "unknown type")))
            let result = try await Self.check(try await backend.url)
            #expect(result.status == 1 && Self.rows(result).isEmpty)
            #expect(result.out.contains("POST /sync/stream: status 400: 'unknown type'\n"), "\(result.out)")
            #expect(result.out.contains("= hint: 'request' of the tables (ProjectsV2, TasksV2"), "\(result.out)")
            #expect(result.out.contains("The checklist was not tried: mend first what is wrong"), "\(result.out)")
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
            #expect(points["ok"]?.count == 8, "\(result.out)")
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
        guard !body.contains(#/SyncCompleteV1\|\d\d/#) else { return .status("410 Gone") }
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
        #expect(wrong.contains { $0.contains(#/left behind: 'rindtest[0-9a-z]{8}' of '[a-z]+'/#) })
    }

    @Test func `a point that was tried in part is not said to hold`() async throws {
        try await DemoBackend.withRunning { backend in
            try await Self.seed(backend)
            let result = try await Self.check(
                try await backend.url, variables: ["RIND_PUSH_CONFLICTS": "stream"])
            for (point, reason) in [
                (ChecklistPoint.oldBase, "no base is sent with 'conflicts = stream'"),
                (.cut, "half of a stream was dropped, and no line broken off"),
            ] {
                #expect(Self.points(result)["in part"]?.contains(point.sentence) == true, "\(result.out)")
                #expect(Self.remark(on: point, result) == reason)
            }
            #expect(result.status == 0)
        }
    }

    @Test func `pushes by calls are left to the command for endpoints, and nothing is written`() async throws {
        try await DemoBackend.withRunning { backend in
            let before = try await backend.records()
            let configuration = Place.root.appending(path: "examples/integer-ids/rind.ini").path(percentEncoded: false)
            let result = try await Self.check(try await backend.url, configuration: configuration)
            let remarks = Self.rows(result).map(\.remark)
            #expect(remarks.count { $0.contains("rind conform --write") } == 5, "\(result.out)\(result.error)")
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
            .body("moves are not kept", [.movedRecord]) {
                $0.replacing(#/"data":\{"projectId":"p-[12]"\}/#, with: #""data":{}"#)
            },
            .body("a lost parent is a conflict", [.lostParent]) {
                $0.replacing(
                    #/"op":"create","table":"tasks","id":"[^"]*","key":\{[^}]*\}(.*)"projectId":"rindtest[0-9a-z]*"/#
                ) {
                    // An update of a record that has changed since the beginning.
                    let base = #","base":"TaskV2|00000000-0000-7000-8000-000000000000"\#($0.output.1)"projectId":"p-1""#
                    return #""op":"update","table":"tasks","id":"t-1","key":{"id":"t-1"}\#(base)"#
                }
            },
            .body("of a push only the first line is read", [.oneLineEach]) {
                $0.split(separator: "\n").first.map { $0 + "\n" } ?? ""
            },
            Fault(name: "a token ahead is a fault", points: [.futureToken], path: "/sync/ack") { request in
                guard case .bytes(let bytes) = request.body, String(buffer: bytes).contains("SyncCompleteV1|02") else {
                    return
                }
                request.url += "/none"
            },
            .body("updates are not kept", [.oneLineEach]) {
                $0.replacing(#/"data":\{"[a-z]+":"rindtest[0-9a-z]+ [234]"\}/#, with: #""data":{}"#)
            },
        ]
    }

    @Test(arguments: Fault.all) func `a point that does not hold is named`(_ fault: Fault) async throws {
        let wrong = try await Self.wrong(fault)
        for point in fault.points {
            let row = wrong.first { $0.contains("| wrong    | \(point.sentence) |") }
            #expect(row?.hasSuffix("|  |") == false, "\(wrong)")
        }
    }

    /// The findings about a backend with a fault.
    private static func wrong(_ fault: Fault) async throws -> [String] {
        try await DemoBackend.withRunning { backend in
            try await Self.seedTwo(backend)
            let text = try Place.text("examples/quickstart/rind.ini")
            let configuration = try Configuration.load(text, environment: ["RIND_BACKEND_URL": try await backend.url])
            let reactor = try CurlReactor.start(configuration.reactorSettings)
            let client = BackendClient(
                settings: configuration.backendSettings, transport: FaultyTransport(reactor: reactor, fault: fault),
                clock: SystemClock(), logger: .silent)
            let sessions = ["ada-token", "bob-token"].map { token in
                let fields: HTTPFields = [.authorization: "Bearer \(token)"]
                return ChecklistSession(
                    configuration, client: client,
                    configuration.forwardingRule.credentials(of: fields, isPeerTrusted: true))
            }
            var run = ChecklistRun(
                configuration, settings: client.settings, sessions[0], second: .user(sessions[1]))
            let results = await run.run(writes: true)
            await reactor.shutdown()
            #expect(!results.isPassed)
            return results.table.filter { $0.contains("| wrong ") } + results.failures.compactMap(\.hint)
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
