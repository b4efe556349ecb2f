// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import DemoBackend
import HTTPTypes
import JSONBytes

/// The steps of the demo: what a device asks, what comes, and whether that is right.
struct DemoScript {
    /// The memory for answers of pulls, which are small here.
    private static let limits = JSONValue.Limits(bytes: 64 << 20, depth: 64, elements: 4_000_000)

    let backend: DemoBackend
    let files: DemoFiles
    let gatewayURL: String
    let operatorURL: String
    let backendURL: String
    let reactor: CurlReactor

    var printer = DemoPrinter()
    /// The cursor of the first device.
    var cursor: Int64 = 0
    /// The first device's token.
    let token = "ada-token"
    /// The task that is edited, as the first device has it.
    var task = JSONValue.null
    var tablet = Tablet(token: "", cursor: 0, task: .null)

    /// The second device.
    struct Tablet {
        var token: String
        var cursor: Int64
        /// The same task, as it has it.
        var task: JSONValue
    }

    init(
        backend: DemoBackend, files: DemoFiles, gatewayURL: String, operatorURL: String, backendURL: String,
        reactor: CurlReactor
    ) {
        self.backend = backend
        self.files = files
        self.gatewayURL = gatewayURL
        self.operatorURL = operatorURL
        self.backendURL = backendURL
        self.reactor = reactor
    }

    /// Runs all steps.
    ///
    /// - Throws: ``CommandFailure`` with status 1 at the first that is not as it should be.
    mutating func run() async throws {
        printer.title("A WatermelonDB app syncs through Rind")
        printer.say(
            """
            gateway   \(gatewayURL)   configured by examples/quickstart/rind.ini
            backend   \(backendURL)   streams JSONL and knows nothing of WatermelonDB
            operators \(operatorURL)   /status is a page, /metrics has counts ([admin] listen)
            """)
        try await firstSync()
        try await editOnBackend()
        try await incrementalPull()
        try await push()
        try await pullAfterPush()
        try await deletion()
        try await secondDevice()
        try await devicesMeet()
        try await reset()
        try await why()
        try await operate()
        printer.title("All \(printer.checks) checks hold.")
    }

    /// Says what can be tried now.
    func sayGoodbye() {
        printer.title("It stays up: try it, and end it with Ctrl-C")
        printer.say("ada-token and bob-token are sessions of two users. A pull, counted:")
        printer.line("rind pull \(gatewayURL)/sync --schema-version 3 -H 'Authorization: Bearer bob-token'")
        printer.say("Which devices there are, and what one holds:")
        printer.line("rind replicas list --config \(files.configurationPath)")
        printer.say("The backend's next stream breaks after 100 lines; the pull that meets it is whole all the same:")
        printer.line("curl -sS -X POST '\(backendURL)/_demo/fault' -d '{\"cutAfterLines\":100}'")
        printer.say("What the gateway does, as a page and for Prometheus, and whether it is well:")
        printer.line("xdg-open \(operatorURL)/status")
        printer.line("curl -sS '\(operatorURL)/metrics' | grep rind_rows_total")
        printer.line("curl -sS '\(gatewayURL)/readyz'")
        printer.say("What passes through it:")
        printer.line("curl -sS '\(gatewayURL)/users/me' -H 'Authorization: Bearer ada-token'")
    }

    /// Pulls once for a device, and prints the result.
    mutating func pull(_ token: String, from cursor: Int64?) async throws -> (PulledChanges, JSONValue) {
        let arguments = "last_pulled_at=\(cursor.map(String.init) ?? "null")&schema_version=3&migration=null"
        let exchange = try await send(DemoRequest(url: "\(gatewayURL)/sync?\(arguments)", token: token))
        try printer.expect(exchange.status == 200, "the pull is answered with 200")
        do {
            let changes = try PulledChanges(exchange.body)
            printer.changes(changes)
            return (changes, try JSONValue.parse(exchange.body, limits: Self.limits)["changes"] ?? .null)
        } catch let problem as PulledChanges.Problem {
            throw CommandFailure(.notAsExpected, problem.message)
        }
    }

    /// Pushes once for a device, and prints the result.
    mutating func push(_ token: String, from cursor: Int64, _ changes: JSONValue) async throws {
        let exchange = try await send(
            DemoRequest(
                method: .post, url: "\(gatewayURL)/sync?last_pulled_at=\(cursor)", token: token, body: changes))
        try printer.expect(exchange.status == 200, "the push is answered with 200")
    }

    /// Prints a request's command, sends it and prints what came.
    mutating func send(_ request: DemoRequest) async throws -> HTTPExchange {
        printer.command(request)
        let exchange = try await request.send(reactor)
        printer.answer(exchange)
        if !exchange.isSuccess { printer.say(exchange.sentence) }
        return exchange
    }

    /// Holds a first pull against what the backend has for the user.
    mutating func expectEverything(_ changes: JSONValue) async throws {
        let records = try await backend.records()
        let isEqual = records.allSatisfy { table, records in
            let ids = Self.ids(changes[table]?["created"])
            return ids.count == records.count && Set(ids) == Set(records.keys)
        }
        try printer.expect(isEqual, "'created' holds every record that the backend has for Ada, each once")
        let rest = (changes.members ?? []).flatMap { Self.ids($0.value["updated"]) + Self.ids($0.value["deleted"]) }
        try printer.expect(rest.isEmpty, "'updated' and 'deleted' are there and empty")
    }

    /// Returns the ids of a list of records or of deletions.
    static func ids(_ list: JSONValue?) -> [String] {
        (list?.array ?? []).compactMap { $0.string ?? $0["id"]?.string }
    }

    /// Returns the lists of one table in a push.
    static func lists(
        created: [JSONValue] = [], updated: [JSONValue] = [], deleted: [String] = []
    ) -> JSONValue {
        .object([
            .init("created", .array(created)), .init("updated", .array(updated)),
            .init("deleted", .array(deleted.map { .string($0) })),
        ])
    }
}
