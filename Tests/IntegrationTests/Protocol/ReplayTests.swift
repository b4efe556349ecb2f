// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import JSONBytes
import Testing

/// Every recorded exchange of a genuine client, sent again to the running gateway.
@Suite struct ReplayTests {
    @Test func `all recordings are there`() {
        #expect(Recordings.files.count == 126)
        #expect(Recordings.files.reduce(0) { $0 + $1.exchanges.count } == 679)
    }

    @Test(arguments: Recordings.files)
    func `a genuine client's requests get the answers that it needs`(file: Recordings.File) async throws {
        try await GatewayStack.with { stack in
            var replay = Replay(stack: stack)
            for (line, exchange) in file.exchanges.enumerated() {
                try await replay.play(exchange, line: line + 1)
            }
        }
    }
}

/// One scenario on its way.
private struct Replay {
    let stack: GatewayStack
    /// The gateway's timestamps by the recorded ones, for each client.
    private var timestamps: [String: [Int64: Int64]] = [:]
    /// What was deleted on the server.
    private var deleted: Set<String> = []

    init(stack: GatewayStack) { self.stack = stack }

    mutating func play(_ exchange: JSONValue, line: Int) async throws {
        for event in exchange["before"]?.array ?? [] { try await apply(event) }
        let client = try #require(exchange["client"]?.string)
        let meaning = try #require(exchange["meaning"])
        let isInjected = exchange["injected"]?.bool == true
        let before = try await stack.backend.records()
        var (request, body) = try translated(exchange, for: client, meaning)
        if let overlong = Self.ids(in: body).first(where: { $0.utf8.count > 255 }) {
            // The documented limit of ids. What the others in this push come to is seen without it.
            let refused = try await request.send(to: stack)
            #expect(refused.status == 400 && refused.errorCode == "request.record_id", "line \(line): \(refused)")
            #expect(try await stack.backend.records() == before)
            request.body = request.body.replacing(overlong, with: String(overlong.prefix(200)))
            body = try #require(Self.parse(request.body))
        }
        let answer = try await request.send(to: stack)
        if isInjected { return }
        let recorded = try #require(exchange["response"])
        if meaning["op"]?.string == "pull" {
            let pulled = try PulledAnswer(answer)
            #expect(pulled.tables.first == "projects", "line \(line)")
            let recordedBody = try #require(Self.parse(recorded["body"]?.string))
            let timestamp = try #require(recordedBody["timestamp"]?.int64)
            timestamps[client, default: [:]][timestamp] = pulled.timestamp
            return
        }
        let after = try await stack.backend.records()
        let changes = try #require(meaning["changesAt"]?.string == "/changes" ? body["changes"] : body)
        // Where an app ignores a replacement, the recorded server let it bring back what was deleted (push rule 3).
        let isRefused =
            recorded["status"]?.int64 == 409 || !stack.backend.rejectedIDs.isDisjoint(with: Self.ids(in: changes))
            || !deleted.isDisjoint(with: Self.ids(in: changes, "updated"))
        if isRefused {
            #expect(!answer.isSuccess && answer.isComplete && answer.errorCode != nil, "line \(line): \(answer)")
            #expect(after == before, "line \(line)")
        } else {
            // One recorded server refuses a table that it doesn't know; here unknown tables are dropped.
            #expect(answer.isSuccess, "line \(line): \(answer)")
            try expectApplied(changes, before: before, after: after, line: line)
        }
    }

    /// What happened on the server since the previous exchange.
    private mutating func apply(_ event: JSONValue) async throws {
        if let table = event["set"]?.string {
            var record: [String: DemoValue] = [:]
            for member in event["record"]?.members ?? [] {
                record[Self.camelCase(member.name)] = DemoValue(parsing: member.value.serialised)
            }
            try await stack.backend.edit(.put(table, record))
        } else if let table = event["delete"]?.string {
            let id = try #require(event["id"]?.string)
            try await stack.backend.edit(.delete(table, id))
            deleted.insert(id)
        } else if let mode = event["mode"] {
            // The other mode, a replacement, is something that an answer may say, not a demand on a backend.
            stack.backend.rejectedIDs = Set(mode["reject"]?.array?.compactMap(\.string) ?? [])
        } else {
            Issue.record("what is \(event)?")
        }
    }

    /// The request with the gateway's own timestamp in the place of the recorded one, and its body.
    private func translated(
        _ exchange: JSONValue, for client: String, _ meaning: JSONValue
    ) throws -> (request: ReplayedRequest, body: JSONValue) {
        var request = try #require(exchange["request"].flatMap(ReplayedRequest.init))
        if let recorded = meaning["lastPulledAt"]?.int64, let own = timestamps[client]?[recorded] {
            for name in ["last_pulled_at", "lastPulledAt"] {
                request.target = request.target.replacing("\(name)=\(recorded)", with: "\(name)=\(own)")
                request.body = request.body.replacing("\"\(name)\":\(recorded)", with: "\"\(name)\":\(own)")
            }
            #expect(request.target.contains("=\(own)") || request.body.contains(":\(own)"))
        }
        return (request, Self.parse(request.body) ?? .null)
    }

    /// Everything pushed is there once and as it was pushed, what was deleted is gone, and nothing else has changed.
    private func expectApplied(
        _ changes: JSONValue, before: [String: [String: DemoValue]], after: [String: [String: DemoValue]], line: Int
    ) throws {
        var expected = before
        for table in try #require(changes.members) where before[table.name] != nil {
            for record in ["created", "updated"].flatMap({ table.value[$0]?.array ?? [] }) {
                let id = try #require(record["id"]?.string)
                let stored = try #require(after[table.name]?[id], "line \(line): \(table.name)#\(id)")
                #expect(stored["_status"] == nil && stored["_changed"] == nil)
                for member in record.members ?? [] where !["_status", "_changed"].contains(member.name) {
                    let value = stored[Self.camelCase(member.name)]
                    #expect(Self.isSame(value, member.value), "line \(line): \(table.name)#\(id).\(member.name)")
                }
                expected[table.name]?[id] = stored
            }
            for id in table.value["deleted"]?.array ?? [] { expected[table.name]?[id.string ?? ""] = nil }
        }
        // A deleted record takes with it what hangs on it.
        for (table, records) in expected {
            #expect(after[table]?.keys.allSatisfy { records[$0] != nil } == true, "line \(line): \(table)")
            let isParent = ["comments", "task_tags"].contains(table)
            #expect(isParent || after[table] == records, "line \(line): \(table)")
        }
    }

    /// Whether the backend has what a client pushed: dates as ISO 8601, NUL and half characters repaired.
    private static func isSame(_ stored: DemoValue?, _ pushed: JSONValue) -> Bool {
        switch (stored, pushed) {
        case (.null?, .null): true
        case (.bool(let own)?, .bool(let theirs)): own == theirs
        case (.number(let own)?, .number(let theirs)): own == theirs.double
        case (.string(let own)?, .string(let theirs)):
            own.utf8.elementsEqual(theirs.replacing("\u{0}", with: "\u{FFFD}").utf8)
        case (.string(let date)?, .number(let milliseconds)):
            milliseconds.double.map { $0.rounded(.towardZero) } == StackOracle.milliseconds(ofISO: date)
        default: false
        }
    }

    private static func ids(in changes: JSONValue, _ list: String? = nil) -> [String] {
        (changes.members ?? []).flatMap { table in
            let lists = (table.value.members ?? []).filter { list == nil || $0.name == list }
            return lists.flatMap { $0.value.array ?? [] }.compactMap { $0.string ?? $0["id"]?.string }
        }
    }

    private static func parse(_ text: String?) -> JSONValue? {
        let limits = JSONValue.Limits(bytes: 10_000_000, depth: 64, elements: 1_000_000)
        return text.flatMap { try? JSONValue.parse($0, limits: limits) }
    }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(words.first.map(String.init) ?? "") {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}

/// A recorded request; its length is that of the body that is sent.
private struct ReplayedRequest {
    var method: String
    var target: String
    var headers: [(String, String)]
    var body: String

    init?(_ value: JSONValue) {
        guard let method = value["method"]?.string, let target = value["target"]?.string,
            let headers = value["headers"]?.members
        else { return nil }
        self.method = method
        self.target = target
        self.headers = headers.filter { $0.name != "content-length" }.map { ($0.name, $0.value.string ?? "") }
        body = value["body"]?.string ?? ""
    }

    func send(to stack: GatewayStack) async throws -> RawAnswer {
        try await stack.http.send(method, target, headers: headers, body: Array(body.utf8))
    }
}
