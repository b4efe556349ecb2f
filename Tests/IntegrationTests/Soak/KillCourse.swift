// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import SyncModel

/// Kills one gateway after the other under the load of many clients, all on the same state; then all is quiet.
///
/// What clients do follows from the seed, and how much each gateway gets done before it dies; what else it is doing in
/// that moment does not.
struct KillCourse {
    /// How many devices each user has.
    static let devicesPerUser = 4
    /// How many syncs come to an end in a gateway's life at most; one that takes too long for them is killed sooner.
    private static let longestLife = (syncs: 24, patience: Duration.seconds(10))
    /// How many milliseconds a gateway has after that at most.
    private static let longestRest = 100
    /// The beginning of the names of records that everybody changes.
    static let sharedName = "shared"

    let tables: FaultTables
    let seed: UInt64
    let users: Int
    let backend: DemoBackend
    let directory: String
    let options: StackOptions
    let load: KillLoad
    var clients: [KillClient] = []
    private(set) var shared: [SharedRecord] = []

    /// A record that everybody changes who sees it.
    struct SharedRecord: Sendable {
        let user: String
        let table: FaultTables.Table
        let id: DemoValue
        let name: String
    }

    init(
        _ tables: FaultTables, seed: UInt64, users: Int, _ options: StackOptions, _ backend: DemoBackend,
        _ directory: String, load: KillLoad = KillLoad()
    ) {
        self.load = load
        self.tables = tables
        self.seed = seed
        self.users = users
        self.options = options
        self.backend = backend
        self.directory = directory
        clients = (0..<users * Self.devicesPerUser).map { number in
            let (user, own) = (Self.user(number / Self.devicesPerUser), seed &* 1_000 &+ UInt64(number))
            let model = ClientModel(schema: tables.schema, version: tables.version, seed: own)
            return KillClient(
                "c\(number)", user: user.email, tables: tables,
                device: StackDevice(
                    model: model, token: user.tokens[number % Self.devicesPerUser], shape: .docs,
                    http: RawHTTPClient(port: 0)),
                seed: own)
        }
    }

    static func user(_ number: Int) -> FaultUser {
        FaultUser(email: "k\(number)@example.com", tokens: (0..<devicesPerUser).map { "k\(number)-\($0)" })
    }

    /// Lives through so many kills and judges what is left; the course has its figures.
    static func run(_ tables: FaultTables, seed: UInt64, users: Int, kills: Int) async throws -> KillCourse {
        // Of many pulls at a time none would come to an end in so short a life.
        var options = try tables.options(["limits.pulls": "16"])
        options.backend.accounts = (0..<users).map { user($0).account }
        return try await GatewayStack.withBackend(options) { [options] backend, directory in
            var course = KillCourse(tables, seed: seed, users: users, options, backend, directory)
            try await course.fill()
            // Most clients are not new.
            try await course.withGateway { try await course.syncAll($0) }
            try await course.kill(kills)
            try await eventually { backend.requestsUnderWay == 0 }
            try await course.withGateway { gateway in
                try await course.quiesce(gateway)
                try await course.judge(gateway)
            }
            try await course.judgeState()
            return course
        }
    }

    /// Makes the records that everybody changes, and looks for the ids that they have got.
    mutating func fill() async throws {
        for number in 0..<users {
            let user = Self.user(number).email
            for (table, record) in shared(of: number) { try await backend.edit(as: user, .put(table, record)) }
            let records = try await backend.records(of: user)
            for table in tables.tables {
                for record in (records[table.name] ?? [:]).values {
                    guard let id = record["id"], let name = record[table.nameColumn]?.string else { continue }
                    shared.append(SharedRecord(user: user, table: table, id: id, name: name))
                }
            }
        }
        shared.sort { $0.name < $1.name }
    }

    private func shared(of user: Int) -> [(String, [String: DemoValue])] {
        func name(_ number: Int) -> DemoValue { .string("\(Self.sharedName)\(user)-\(number)") }
        if tables.isStrict {
            return [("folders", ["name": name(0)])] + (1...4).map { ("notes", ["title": name($0)]) }
        }
        let project = DemoValue.string("p-\(user)")
        return [("projects", ["id": project, "name": name(0)])]
            + (1...3).map { ("tasks", ["id": .string("t-\(user)-\($0)"), "name": name($0), "projectId": project]) }
            + [("tags", ["id": .string("g-\(user)"), "label": name(4)])]
    }

    /// Starts a gateway on the state, passes it to the body and ends it like the others.
    func withGateway(_ body: (GatewayProcess) async throws -> Void) async throws {
        let gateway = try await GatewayProcess.start(
            backend: try await backend.url, directory: directory, overrides: options.overrides,
            configuration: options.configuration)
        do {
            try await body(gateway)
        } catch {
            try await gateway.kill()
            throw error
        }
        if !gateway.isRunning { load.fail("a gateway has ended by itself: \(gateway.log.suffix(2_000))") }
        try await gateway.kill()
        for defect in try GatewayWatch(gateway).defects().prefix(3) { load.fail("in the log: \(defect)") }
    }

    /// Lets all clients sync while gateways come and go.
    private mutating func kill(_ kills: Int) async throws {
        let (course, clients) = (self, clients)
        self.clients = try await withThrowingTaskGroup(of: KillClient?.self) { group in
            for client in clients {
                group.addTask {
                    var client = client
                    try await client.run(course.load)
                    return client
                }
            }
            group.addTask {
                try await course.writeBeside()
                return nil
            }
            group.addTask {
                defer { course.load.end() }
                var random = SeededGenerator(seed: course.seed)
                for _ in 0..<kills {
                    try await course.withGateway { gateway in
                        try await course.live(gateway, &random)
                    }
                    course.load.move(to: nil)
                }
                return nil
            }
            return try await group.reduce(into: []) { if let client = $1 { $0.append(client) } }
        }
    }

    /// Returns at a moment at which a gateway is to die.
    private func live(_ gateway: GatewayProcess, _ random: inout SeededGenerator) async throws {
        let end = ContinuousClock.now + Self.longestLife.patience
        let syncs = load.syncs + Int.random(in: 0...Self.longestLife.syncs, using: &random)
        load.move(to: gateway.port)
        try await eventually { load.syncs >= syncs || .now > end }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...Self.longestRest, using: &random)))
    }

    /// Changes the shared records as another client of the backend.
    func writeBeside() async throws {
        var random = SeededGenerator(seed: seed &+ 1)
        var edits = 0
        while !load.isOver, let record = shared.randomElement(using: &random) {
            edits += 1
            let text = DemoValue.string("\(record.name) beside-\(edits)")
            try await backend.edit(
                as: record.user, .put(record.table.name, ["id": record.id, record.table.nameColumn: text]))
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

// The quiet after the last kill.
extension KillCourse {
    /// Lets all clients sync: twice for what is in conflict, and once more for what others have pushed meanwhile.
    private mutating func quiesce(_ gateway: GatewayProcess) async throws {
        for _ in 0..<3 { try await syncAll(gateway) }
    }

    mutating func syncAll(_ gateway: GatewayProcess) async throws {
        let load = load
        clients = try await withThrowingTaskGroup(of: KillClient.self) { group in
            for client in clients {
                group.addTask {
                    var client = client
                    client.device.http = gateway.http
                    try await client.quiesce(load)
                    return client
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
