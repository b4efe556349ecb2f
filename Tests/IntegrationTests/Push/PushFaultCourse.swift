// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Logging
import SyncModel

/// One life of a few devices: they write by chance, calls of the backend fail by chance, gateways end in the middle of
/// a sync; then all is quiet.
struct PushFaultCourse {
    /// How gateways end.
    enum End: Sendable {
        /// Their task is cancelled.
        case stopped
        /// As if their process were killed: nothing that they do from one moment on reaches state, backend or device.
        case cut
        /// They are processes of their own, and killed.
        case killed
    }

    /// How long a course is.
    struct Manner: Sendable {
        /// How many gateways live in noise.
        var lives = 3
        /// How many syncs each of them sees.
        var rounds = 3
        /// How many records there are to begin with.
        var records = 4
        /// How many calls go wrong, of 1.
        var noise = 0.3
        /// How often quiet devices sync at most.
        var quietRounds = 4
        /// How many milliseconds a gateway waits for an answer; late calls come after twice of that.
        var patience = 60
        /// How long a gateway repeats what was put off, where it does.
        var budget = "150ms"
        var end = End.stopped
        /// Whether quiet devices sync no more than they need to.
        var isShort = false

        /// As little as can go wrong in all ways.
        static func small(_ end: End) -> Manner {
            Manner(
                lives: 1, rounds: 2, records: 2, noise: 0.4, patience: 30, budget: "20ms", end: end, isShort: true)
        }
    }

    /// What came of it.
    struct Outcome {
        /// What must not be, a line for each.
        var problems: [String] = []
        /// The code of a sync that ended with its gateway, so that its device heard nothing.
        static let unheard = "unheard"
        /// How many syncs failed before it was quiet, by their codes.
        var failures: [String: Int] = [:]
        /// The codes with which gateways warned meanwhile; those of killed processes are not read.
        var warnings: Set<String> = []
        /// How many calls went wrong.
        var faults = 0
        /// How many gateways ended in the middle of a sync.
        var stops = 0
        /// How many records it took a full comparison to get rid of.
        var compared = 0
        /// Every call about a record, where anything was left.
        var calls: [String] = []
    }

    let tables: FaultTables
    let seed: UInt64
    let manner: Manner
    let user: FaultUser
    let backend: DemoBackend
    var random: SeededGenerator
    var devices: [StackDevice] = []
    var outcome = Outcome()
    /// The name of every record that was made, with that of what it names.
    var made: [String: String?] = [:]
    var deleted: Set<String> = []
    /// Where the state of the next gateway is.
    var directory: String

    private init(
        _ tables: FaultTables, seed: UInt64, _ manner: Manner, _ user: FaultUser, _ backend: DemoBackend,
        _ directory: String
    ) {
        self.tables = tables
        self.seed = seed
        self.manner = manner
        self.user = user
        self.backend = backend
        self.directory = directory
        random = SeededGenerator(seed: seed)
    }

    /// Lives through one seed before a backend of its own.
    static func run(_ tables: FaultTables, seed: UInt64, _ manner: Manner = Manner()) async throws -> Outcome {
        try await GatewayStack.withBackend(try tables.options([:])) { backend, directory in
            try await run(tables, seed: seed, manner, .ada, backend, directory)
        }
    }

    /// Lives through one seed as a user of a backend that nobody else speaks to meanwhile.
    static func run(
        _ tables: FaultTables, seed: UInt64, _ manner: Manner, _ user: FaultUser, _ backend: DemoBackend,
        _ directory: String
    ) async throws -> Outcome {
        backend.clearRequests()
        var course = PushFaultCourse(tables, seed: seed, manner, user, backend, directory)
        try await course.run()
        return course.outcome
    }

    private mutating func run() async throws {
        let quiet = try tables.options(["push.retry_budget": "5s"])
        for _ in 0..<manner.lives {
            let noisy = try tables.options([
                "push.retry_budget": random.next() % 2 == 0 ? "0s" : manner.budget,
                "backend.first_byte_timeout": tables.losesLateCalls ? "10s" : "\(manner.patience)ms",
                "backend.resume_backoff": "2ms",
            ])
            try await live(noisy)
            if tables.losesLateCalls { try await quiesce() }
        }
        let calls = backend.requests.filter { !$0.path.hasPrefix("/sync") && $0.path != "/users/me" }.map {
            "\($0.method) \($0.path) \($0.body) \($0.status ?? 0) \($0.fault.map { "\($0)" } ?? "")"
        }
        outcome.faults = backend.requests.count { $0.fault != nil }
        backend.clearFaults()
        // The gateway of a late call may have ended long ago.
        try await quiesce()
        try await GatewayStack.with(quiet, backend: backend, directory: directory) { try await finish($0) }
        if outcome.compared > 0 {
            let comparing = try tables.options(["ledger.resweep_every": "1ms"])
            try await GatewayStack.with(comparing, backend: backend, directory: directory) { stack in
                try await finish(stack, isCompared: true)
            }
        }
        if !outcome.problems.isEmpty || outcome.compared > 0 { outcome.calls = calls }
    }

    private func quiesce() async throws { try await eventually { backend.requestsUnderWay == 0 } }

    /// Makes devices that have synced once, and a few records on one of them.
    private mutating func begin(_ http: RawHTTPClient) async throws {
        for number in 0..<tables.devices {
            let model = ClientModel(schema: tables.schema, version: tables.version, seed: seed &* 8 &+ UInt64(number))
            devices.append(StackDevice(model: model, token: user.tokens[number], shape: .docs, http: http))
            if number == 0 { for _ in 0..<manner.records { try create(on: 0) } }
            // The gateway's patience may be too short for a busy machine.
            var isSynced = false
            while !isSynced {
                do {
                    try await devices[number].sync()
                    isSynced = true
                } catch is StackDevice.Failure {}
            }
        }
    }

    /// The life of one gateway.
    private mutating func live(_ options: StackOptions) async throws {
        switch manner.end {
        case .stopped:
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await syncs(stack.http) {}
                noteWarnings(of: stack)
            }
        case .cut:
            let cut = GatewayCut(backend, from: directory)
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await syncs(stack.http) { try await cut.happen() }
                noteWarnings(of: stack)
            }
            if cut.hasHappened {
                // What the cut gateway has on its way comes to nothing.
                backend.clearFaults()
                directory = cut.directory
            }
        case .killed:
            let process = try await GatewayProcess.start(
                backend: try await backend.url, directory: directory, overrides: options.overrides,
                configuration: options.configuration)
            try await syncs(process.http) { try await process.kill() }
            try await process.kill()
        }
    }

    private mutating func noteWarnings(of stack: GatewayStack) {
        for line in stack.log.lines where line.level >= .warning {
            outcome.warnings.insert(line.metadata["code"] ?? line.message)
        }
    }

    /// A few syncs, the last of which ends together with the gateway, more often than not.
    private mutating func syncs(
        _ http: RawHTTPClient, end: @escaping @Sendable () async throws -> Void
    ) async throws {
        if devices.isEmpty { try await begin(http) }
        for place in devices.indices { devices[place].http = http }
        let ways = RandomFaults.Way.allCases.filter { $0 != .late || !tables.losesLateCalls }
        backend.inject(
            RandomFaults(seed: random.next(), probability: manner.noise, ways: ways, delay: 2 * manner.patience))
        for round in 0..<manner.rounds {
            let place = Int(random.next() % UInt64(devices.count))
            for _ in 0...random.next() % 4 { try write(on: place) }
            let isLast = round == manner.rounds - 1 && random.next() % 4 > 0
            try await sync(place, endingAfter: isLast ? 1 + Int(random.next() % 12) : nil, end)
        }
    }
}
