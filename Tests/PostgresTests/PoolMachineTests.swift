// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import SyncModel
import Testing

@testable import Postgres

struct PoolMachineTests {
    private static let unreachable = PostgresError.unreachable("nobody is there")

    @Test func `a job gets the connection that is opened for it, and the next job gets it again`() {
        var machine = machine()
        #expect(machine.request(job: 1, deadline: at(100), at: at(0)) == [.open])
        #expect(machine.opened(7, at: at(1)) == [.assign(job: 1, connection: 7)])
        #expect(machine.release(7) == [])
        #expect(machine.request(job: 2, deadline: at(100), at: at(2)) == [.assign(job: 2, connection: 7)])
    }

    @Test func `connections are opened one at a time and up to the limit`() {
        var machine = machine(connections: 2)
        #expect(machine.request(job: 1, deadline: at(100), at: at(0)) == [.open])
        #expect(machine.request(job: 2, deadline: at(100), at: at(0)) == [])
        #expect(machine.request(job: 3, deadline: at(100), at: at(0)) == [])
        #expect(machine.opened(1, at: at(1)) == [.assign(job: 1, connection: 1), .open])
        #expect(machine.opened(2, at: at(1)) == [.assign(job: 2, connection: 2)])
        #expect(machine.release(1) == [.assign(job: 3, connection: 1)])
    }

    @Test func `a connection that ends is replaced while a job waits`() {
        var machine = machine(connections: 1)
        _ = machine.request(job: 1, deadline: at(100), at: at(0))
        _ = machine.opened(1, at: at(0))
        #expect(machine.request(job: 2, deadline: at(100), at: at(0)) == [])
        #expect(machine.remove(1, at: at(1)) == [.open])
    }

    @Test func `jobs wait until their deadlines while the server is away, with growing pauses between attempts`() {
        var machine = machine()
        _ = machine.request(job: 1, deadline: at(1_000), at: at(0))
        #expect(machine.failed(Self.unreachable, at: at(10), jitter: 1) == [])
        #expect(machine.wake == at(110))
        #expect(machine.tick(at: at(109)) == [])
        #expect(machine.tick(at: at(110)) == [.open])
        #expect(machine.failed(Self.unreachable, at: at(120), jitter: 1) == [])
        #expect(machine.wake == at(320))
        #expect(machine.request(job: 2, deadline: at(900), at: at(200)) == [])
        #expect(machine.tick(at: at(320)) == [.open])
        #expect(machine.tick(at: at(950)) == [.fail(job: 2, Self.unreachable)])
        #expect(machine.tick(at: at(1_000)) == [.fail(job: 1, Self.unreachable)])
        #expect(machine.wake == nil)
        #expect(machine.opened(1, at: at(1_001)) == [])
        #expect(machine.request(job: 3, deadline: at(2_000), at: at(1_002)) == [.assign(job: 3, connection: 1)])
    }

    @Test func `a pause goes on although nothing waits for its end`() {
        var machine = machine()
        _ = machine.request(job: 1, deadline: at(5), at: at(0))
        #expect(machine.tick(at: at(5)).count == 1)
        #expect(machine.failed(Self.unreachable, at: at(10), jitter: 1) == [])
        #expect(machine.request(job: 2, deadline: at(500), at: at(50)) == [])
        #expect(machine.request(job: 3, deadline: at(500), at: at(110)) == [.open])
    }

    @Test func `a job that finds all connections in use until its deadline is told so`() {
        var machine = machine(connections: 1)
        _ = machine.request(job: 1, deadline: at(100), at: at(0))
        _ = machine.opened(1, at: at(0))
        _ = machine.request(job: 2, deadline: at(50), at: at(0))
        #expect(machine.wake == at(50))
        #expect(machine.tick(at: at(50)) == [.fail(job: 2, .timeout(.pool))])
    }

    @Test func `a refused password fails the jobs at once, but not those that wait for other connections`() {
        let refused = PostgresError.authentication("no")
        var machine = machine(connections: 2)
        _ = machine.request(job: 1, deadline: at(100), at: at(0))
        _ = machine.request(job: 2, deadline: at(100), at: at(0))
        #expect(machine.failed(refused, at: at(1), jitter: 0) == [.fail(job: 1, refused), .fail(job: 2, refused)])
        #expect(machine.request(job: 3, deadline: at(100), at: at(60)) == [.open])
        _ = machine.opened(1, at: at(61))
        #expect(machine.request(job: 4, deadline: at(100), at: at(62)) == [.open])
        #expect(machine.failed(refused, at: at(63), jitter: 0) == [])
    }

    @Test func `the queue has a limit, and a cancelled job makes room`() {
        var machine = machine(waiting: 2)
        _ = machine.request(job: 1, deadline: at(100), at: at(0))
        _ = machine.request(job: 2, deadline: at(100), at: at(0))
        #expect(machine.request(job: 3, deadline: at(100), at: at(0)) == [.fail(job: 3, .queueFull)])
        machine.cancel(job: 1)
        #expect(machine.request(job: 4, deadline: at(100), at: at(0)) == [])
        #expect(machine.opened(1, at: at(1)) == [.assign(job: 2, connection: 1), .open])
    }

    @Test func `a closed pool refuses jobs and closes connections as they become free`() {
        var machine = machine(connections: 2)
        for job in [1, 2, 3] as [UInt64] { _ = machine.request(job: job, deadline: at(100), at: at(0)) }
        _ = machine.opened(1, at: at(0))
        #expect(machine.close() == [.fail(job: 2, .closed), .fail(job: 3, .closed)])
        #expect(machine.request(job: 4, deadline: at(100), at: at(0)) == [.fail(job: 4, .closed)])
        #expect(machine.release(1) == [.close(connection: 1)])
        #expect(machine.opened(2, at: at(1)) == [.close(connection: 2)])
    }

    @Test func `a closed pool closes its idle connections at once`() {
        var machine = machine()
        _ = machine.request(job: 1, deadline: at(100), at: at(0))
        _ = machine.opened(1, at: at(0))
        _ = machine.release(1)
        #expect(machine.close() == [.close(connection: 1)])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `random events leave no job without an answer and no connection in two hands`(seed: UInt64) {
        var trial = PoolTrial(seed: seed)
        for _ in 0..<2_000 { trial.step() }
        trial.end()
        #expect(trial.faults == [])
    }

    private func machine(connections: Int = 8, waiting: Int = 100) -> PoolMachine {
        var settings = PostgresSettings(conninfo: "")
        settings.maximumConnections = connections
        settings.maximumWaiting = waiting
        return PoolMachine(settings)
    }
}

struct BackoffTests {
    @Test(arguments: [
        (1, 0.0, 50), (1, 1.0, 100), (2, 1.0, 200), (3, 0.5, 300), (6, 1.0, 3_200), (7, 1.0, 5_000),
        (1_000, 0.0, 2_500),
    ])
    func `pauses double up to the longest, and half of each is left to chance`(
        failures: Int, jitter: Double, milliseconds: Int
    ) {
        #expect(Backoff().pause(afterFailures: failures, jitter: jitter) == .milliseconds(milliseconds))
    }
}

private func at(_ milliseconds: Int64) -> NIODeadline {
    .uptimeNanoseconds(1_000_000_000) + .milliseconds(milliseconds)
}

/// Plays random events into a machine and keeps account of what it may do.
private struct PoolTrial {
    private(set) var faults: [String] = []
    private var machine: PoolMachine
    private var random: SeededGenerator
    private var now: Int64 = 0
    private var nextJob: UInt64 = 0
    private var nextConnection: UInt64 = 0
    private var waiting: [UInt64: Int64] = [:]
    private var busy: Set<UInt64> = []
    private var idle: Set<UInt64> = []
    private var isOpening = false

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var settings = PostgresSettings(conninfo: "")
        settings.maximumConnections = 3
        settings.maximumWaiting = 5
        machine = PoolMachine(settings)
    }

    mutating func step() {
        now += Int64.random(in: 0...40, using: &random)
        carryOut(machine.tick(at: at(now)))
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
            nextJob += 1
            waiting[nextJob] = now + Int64.random(in: 1...300, using: &random)
            carryOut(machine.request(job: nextJob, deadline: at(waiting[nextJob] ?? 0), at: at(now)))
        case 2: if isOpening { opened() }
        case 3: if isOpening { failed() }
        case 4:
            guard let connection = busy.sorted().randomElement(using: &random) else { return }
            busy.remove(connection)
            idle.insert(connection)
            carryOut(machine.release(connection))
        case 5:
            guard let connection = busy.union(idle).sorted().randomElement(using: &random) else { return }
            busy.remove(connection)
            idle.remove(connection)
            carryOut(machine.remove(connection, at: at(now)))
        default:
            guard let job = waiting.keys.sorted().randomElement(using: &random) else { return }
            waiting[job] = nil
            machine.cancel(job: job)
        }
        if !idle.isEmpty, !waiting.isEmpty { faults.append("a job waits beside an idle connection") }
        if busy.count + idle.count > 3 { faults.append("too many connections") }
        if let late = waiting.values.min(), late < now { faults.append("a job waits beyond its deadline") }
    }

    /// Answers whatever is left.
    mutating func end() {
        for _ in 0..<50 where !waiting.isEmpty {
            guard let wake = machine.wake else { break }
            // Rounded up, as the pool's thread sleeps.
            now = max(now, Int64(wake.uptimeNanoseconds + 999_999) / 1_000_000 - 1_000)
            if isOpening { failed() }
            carryOut(machine.tick(at: at(now)))
        }
        if !waiting.isEmpty { faults.append("jobs are left") }
    }

    private mutating func opened() {
        isOpening = false
        nextConnection += 1
        idle.insert(nextConnection)
        carryOut(machine.opened(nextConnection, at: at(now)))
    }

    private mutating func failed() {
        isOpening = false
        let jitter = Double.random(in: 0...1, using: &random)
        let error: PostgresError = Bool.random(using: &random) ? .unreachable("") : .authentication("")
        carryOut(machine.failed(error, at: at(now), jitter: jitter))
    }

    private mutating func carryOut(_ actions: [PoolMachine.Action]) {
        for action in actions {
            switch action {
            case .open:
                if isOpening { faults.append("two openings at once") }
                isOpening = true
            case .assign(let job, let connection):
                if waiting.removeValue(forKey: job) == nil { faults.append("a job that does not wait") }
                if idle.remove(connection) == nil { faults.append("a connection that is not idle") }
                busy.insert(connection)
            case .fail(let job, _):
                if waiting.removeValue(forKey: job) == nil { faults.append("an answer to no job") }
            case .close: faults.append("closed for no reason")
            }
        }
    }
}
