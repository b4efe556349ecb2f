// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting

/// One life of a few devices: they write by chance, calls of the backend fail by chance, gateways end in the middle of
/// a sync; then all is quiet.
struct PushFaultCourse {
    /// How gateways end.
    enum End: Sendable {
        /// Their task is cancelled.
        case stopped
        /// They are processes of their own, and killed.
        case killed
    }

    /// What came of it.
    struct Outcome {
        /// What must not be, a line for each.
        var problems: [String] = []
        /// How many syncs failed before it was quiet.
        var failures = 0
        /// How many calls went wrong.
        var faults = 0
        /// How many gateways ended in the middle of a sync.
        var stops = 0
        /// How many records it took a resweep to get rid of.
        var swept = 0
        /// Every call about a record, where anything was left.
        var calls: [String] = []
    }

    let tables: FaultTables
    let seed: UInt64
    var random: SeededGenerator
    var devices: [StackDevice] = []
    private var outcome = Outcome()
    /// The name of every record that was made, with that of what it names.
    var made: [String: String?] = [:]
    var deleted: Set<String> = []

    private init(_ tables: FaultTables, seed: UInt64) {
        self.tables = tables
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    /// Lives through one seed.
    static func run(_ tables: FaultTables, seed: UInt64, end: End = .stopped) async throws -> Outcome {
        try await GatewayStack.withBackend(try tables.options([:])) { backend, directory in
            var course = PushFaultCourse(tables, seed: seed)
            let quiet = try tables.options(["push.retry_budget": "5s"])
            try await GatewayStack.with(quiet, backend: backend, directory: directory) { stack in
                try await course.begin(stack)
            }
            for _ in 0..<3 {
                let noisy = try tables.options([
                    "push.retry_budget": course.random.next() % 2 == 0 ? "0s" : "150ms",
                    "backend.first_byte_timeout": "60ms", "backend.resume_backoff": "2ms",
                ])
                try await course.live(noisy, end, backend, directory)
            }
            let calls = backend.requests.filter { !$0.path.hasPrefix("/sync") && $0.path != "/users/me" }.map {
                "\($0.method) \($0.path) \($0.body) \($0.status ?? 0) \($0.fault.map { "\($0)" } ?? "")"
            }
            course.outcome.faults = backend.requests.count { $0.fault != nil }
            backend.clearFaults()
            // The gateway of a late call may have ended long ago.
            try await eventually { backend.requestsUnderWay == 0 }
            try await GatewayStack.with(quiet, backend: backend, directory: directory) { stack in
                try await course.finish(stack)
            }
            if course.outcome.swept > 0 {
                let sweeping = try tables.options(["ledger.resweep_every": "1ms"])
                try await GatewayStack.with(sweeping, backend: backend, directory: directory) { stack in
                    try await course.finish(stack, isSwept: true)
                }
            }
            if !course.outcome.problems.isEmpty || course.outcome.swept > 0 { course.outcome.calls = calls }
            return course.outcome
        }
    }

    private mutating func begin(_ stack: GatewayStack) async throws {
        for number in 0..<tables.devices {
            var device = try await stack.device(
                version: tables.version, schema: tables.schema, token: ["device-a", "device-b"][number],
                seed: seed &* 8 &+ UInt64(number))
            try await device.sync()
            devices.append(device)
        }
        for _ in 0..<4 { try create(on: 0) }
        try await devices[0].sync()
    }

    /// The life of one gateway.
    private mutating func live(
        _ options: StackOptions, _ end: End, _ backend: DemoBackend, _ directory: String
    ) async throws {
        backend.inject(RandomFaults(seed: random.next(), probability: 0.3, delay: 120))
        switch end {
        case .stopped:
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await syncs(stack.http, backend, kill: nil)
            }
        case .killed:
            let process = try await GatewayProcess.start(
                backend: try await backend.url, directory: directory, overrides: options.overrides,
                configuration: options.configuration)
            try await syncs(process.http, backend) { try await process.kill() }
            try await process.kill()
        }
    }

    /// A few syncs, the last of which ends together with the gateway, more often than not.
    private mutating func syncs(
        _ http: RawHTTPClient, _ backend: DemoBackend, kill: (@Sendable () async throws -> Void)?
    ) async throws {
        for place in devices.indices { devices[place].http = http }
        for round in 0..<3 {
            let place = Int(random.next() % UInt64(devices.count))
            for _ in 0...random.next() % 4 { try write(on: place) }
            let calls = round == 2 && random.next() % 4 > 0 ? 1 + Int(random.next() % 12) : nil
            try await sync(place, backend, endingAfter: calls, kill)
        }
    }

    private mutating func sync(
        _ place: Int, _ backend: DemoBackend, endingAfter calls: Int?, _ kill: (@Sendable () async throws -> Void)?
    ) async throws {
        let device = devices[place]
        let limit = calls.map { backend.requests.count + $0 } ?? .max
        let (after, isStopped) = await withThrowingTaskGroup(of: Attempt?.self) { group in
            group.addTask { await Attempt(device) }
            group.addTask {
                while backend.requests.count < limit { try await Task.sleep(for: .milliseconds(1)) }
                try await kill?()
                return nil
            }
            var attempt: Attempt?
            var isStopped = false
            while let next = await group.nextResult() {
                if case .success(let result?) = next { attempt = result }
                if case .success(nil) = next { isStopped = true }
                // The app waits for its answer as long as the process can give it one.
                if attempt != nil || kill == nil { group.cancelAll() }
            }
            return (attempt, isStopped)
        }
        if let after { devices[place] = after.device }
        if after?.isSynced != true { outcome.failures += 1 }
        if isStopped { outcome.stops += 1 }
    }

    /// What a sync has made of a device, whether it came to its end or not.
    private struct Attempt {
        var device: StackDevice
        var isSynced = true

        init(_ device: StackDevice) async {
            self.device = device
            do { try await self.device.sync() } catch { isSynced = false }
        }
    }

    private mutating func finish(_ stack: GatewayStack, isSwept: Bool = false) async throws {
        for place in devices.indices { devices[place].http = stack.http }
        for round in 0..<4 {
            for place in devices.indices {
                do {
                    try await devices[place].sync()
                } catch let failure as StackDevice.Failure {
                    // What is in conflict comes with the next pull.
                    if round > 1 { outcome.problems.append("device \(place) in quiet round \(round): \(failure)") }
                }
            }
        }
        let contents = try await StackOracle.contents(
            of: stack.backend, for: "ada@example.com", schema: tables.schema, version: tables.version)
        let oracle = tables.oracle
        let present = names(in: contents)
        for (place, device) in devices.enumerated() {
            if device.model.hasUnsyncedChanges { outcome.problems.append("device \(place) has unsynced changes") }
            let left = oracle.differences(device.model.contents, contents)
            let orphans = names(in: device.model.contents).subtracting(present).filter(isOrphan)
            if !isSwept, left.count == orphans.count {
                outcome.swept += orphans.count
            } else {
                outcome.problems += left.map { "device \(place): \($0)" }
            }
        }
        for name in made.keys.sorted() where !present.contains(name) && !isDeleted(name) {
            outcome.problems.append("\(name) is lost")
        }
    }

    private func names(in contents: ContentOracle.Tables) -> Set<String> {
        Set(tables.tables.flatMap { tables.oracle.names(of: $0.name, in: contents) })
    }

    /// Whether a record went with another one, of which the backend says nothing.
    ///
    /// The gateway has it follow the deleted one, unless what lies between them was written once more: a late
    /// call makes that anew. The resweep finds what is left then.
    private func isOrphan(_ name: String) -> Bool { !deleted.contains(name) && isDeleted(name) }

    /// Whether a record was deleted, or anything that it belongs to.
    private func isDeleted(_ name: String) -> Bool {
        if deleted.contains(name) { return true }
        guard case .some(.some(let parent)) = made[name] else { return false }
        return isDeleted(parent)
    }
}
