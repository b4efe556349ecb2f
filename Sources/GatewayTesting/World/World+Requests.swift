// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import JSONBytes
import Ledger
import Logging
import SyncModel
import WatermelonWire

// Requests begin.
extension World {
    /// Begins a pull of a device; run it with ``run(_:until:)``.
    @discardableResult
    package func beginPull(_ index: Int) -> WorldSync {
        let device = users.devices[index]
        let pull = PullRequest(
            lastPulledAt: device.cursor.map { .cursor($0.rawValue) } ?? .never, schemaVersion: device.statedVersion,
            migration: device.asked)
        syncCount += 1
        let sync = WorldSync(
            number: syncCount, device: index, presented: device.cursor, began: users.backend.counter)
        note("\(device.name) pulls with \(device.cursor.map(\.description) ?? "nothing")")
        begin(sync, isPull: true) { gateway, caller in
            let body = try await gateway.pull(pull, caller: caller)
            sync.note(body.figures)
            let collected = CollectedAnswer(isSlow: sync.number % 2 == 0)
            try await body.write(to: collected)
            guard let answer = SimulatedAnswer(json: collected.bytes) else { throw WorldError.unreadableAnswer }
            sync.note(answer)
        }
        return sync
    }

    /// Begins a push of a device; returns nil if it has no edits.
    @discardableResult
    package func beginPush(_ index: Int, _ outcome: WorldPushOutcome = .answered) throws -> WorldSync? {
        let device = users.devices[index]
        let pending = device.pending.sorted { $0.key < $1.key }
        guard !pending.isEmpty, device.cursor != nil else { return nil }
        let stated =
            switch setup.pushTime {
            case .now: device.cursor
            case .none: Cursor?.none
            case .before: device.cursorBefore ?? device.cursor
            }
        let push = try read(pending, of: device, stated)
        note("\(device.name) pushes \(pending.map(\.key)) with \(stated?.description ?? "nothing"), \(outcome)")
        count("push \(outcome)")
        users.pushed.formUnion(pending.map(\.key))
        users.unmade.formUnion(pending.filter { $0.value.status == .deleted }.map(\.key))
        users.expectEchoes(of: users.touched(by: pending, on: index), isAnswered: outcome == .answered)
        syncCount += 1
        let sync = WorldSync(
            number: syncCount, device: index, presented: stated, began: users.backend.counter, outcome: outcome,
            doubtful: pending.last?.key,
            bases: device.bases.filter { device.pending[$0.key] != nil },
            olderBases: stated == device.cursor ? [:] : device.basesBefore, unheard: device.unheard)
        begin(sync, isPull: false, pushed: pending.map { ($0.key, $0.value) }) { gateway, caller in
            sync.note(rejected: Self.rejected(in: try await gateway.push(push, caller: caller).body))
        }
        return sync
    }

    private static func rejected(in body: [UInt8]) -> Set<SimulatedKey> {
        guard let tables = try? JSONValue.parse(body)["experimentalRejectedIds"] else { return [] }
        let keys = SimulatedTable.allCases.flatMap { table in
            (tables[table.name]?.array ?? []).compactMap { $0.string.map { SimulatedKey(table, $0) } }
        }
        return Set(keys)
    }

    private enum WorldError: Error { case notAPush, unreadableAnswer }

    /// Reads a request with the gateway's own reader.
    private func read(
        _ pending: [(key: SimulatedKey, value: SimulatedDevice.Local)], of device: SimulatedDevice, _ presented: Cursor?
    ) throws -> PushRequest {
        var tables: [JSONValue.Member] = []
        for table in SimulatedTable.allCases where table != .notes || device.version >= 2 {
            let own = pending.filter { $0.key.table == table }
            guard !own.isEmpty || setup.namesAllTables else { continue }
            func records(_ status: SimulatedDevice.Status) -> JSONValue {
                .array(
                    own.filter { $0.value.status == status }.map {
                        var record = $0.value.record
                        record.parent = device.reference(of: $0.key, record)
                        return record.json(id: device.id(of: $0.key), table: table, version: device.version)
                    })
            }
            let deleted = own.filter { $0.value.status == .deleted }.map { JSONValue.string(device.id(of: $0.key)) }
            tables.append(
                .init(
                    table.name,
                    .object([
                        .init("created", records(.created)), .init("updated", records(.updated)),
                        .init("deleted", .array(deleted)),
                    ])))
        }
        var writer = JSONWriter()
        writer.append(.object([.init("changes", .object(tables))]))
        let reader = RequestReader(dialect: gateways[0].gateway.dialect)
        let query = presented.map { "last_pulled_at=\($0)" } ?? ""
        let request = try reader.read(method: "POST", route: .push, query: query, body: writer.bytes)
        guard case .push(let push) = request else { throw WorldError.notAPush }
        return push
    }

    private func begin(
        _ sync: WorldSync, isPull: Bool, pushed: [(key: SimulatedKey, local: SimulatedDevice.Local)] = [],
        _ body: @escaping @Sendable (SyncGateway, Caller) async throws -> Void
    ) {
        let session = users.devices[sync.device].session
        var request = Request(
            sync: sync, session: session, gateway: drawGateway(), pushed: pushed, isPull: isPull)
        request.comparison.isDamaged = users.hasDamage
        requests.append(request)
        users.devices[sync.device].isSyncing = true
        let gateway = gateways[request.gateway].gateway
        var logger = log.logger("request")
        logger[metadataKey: Self.requestKey] = "\(sync.number)"
        let caller = Caller(
            fields: [.authorization: "Bearer \(session.rawValue)"],
            requestID: "r\(sync.number)", logger: logger)
        Task(executorPreference: executor) {
            await WorldSync.$current.withValue(sync) {
                do {
                    try await body(gateway, caller)
                    sync.end(.success(()))
                } catch {
                    sync.end(.failure(error))
                }
            }
        }
    }

    /// Returns the gateway that a request goes to: any that is not paused.
    private func drawGateway() -> Int {
        if let chosenGateway { return chosenGateway }
        let awake = gateways.indices.filter { !gateways[$0].life.isPaused }
        guard awake.count > 1 else { return awake.first ?? 0 }
        return awake[Int(executor.draw() % UInt64(awake.count))]
    }

    /// The name under which a line of the log has the number of its request.
    static let requestKey = "sync"
}

// Requests go on.
extension World {
    /// Returns the session at the backend of a device.
    package func session(of device: Int) -> String { users.devices[device].session.rawValue }

    /// Runs a job, and hands over what came of it.
    ///
    /// - Returns: Whether there was one.
    package func step() -> Bool {
        guard executor.step() else { return false }
        handOver()
        return true
    }

    /// Runs everything that does not wait: for a request that is held, for time to pass.
    package func drain() { while step() {} }

    /// Runs a request until it is about to do one of these things, where it is held, or to its end.
    ///
    /// Other requests go on meanwhile.
    package func run(_ sync: WorldSync, until moments: WorldMoment...) async {
        sync.goOn(to: Set(moments))
        advance(sync)
    }

    /// Runs a request for so many moments, or to its end; at the last of them it is held.
    package func run(_ sync: WorldSync, moments: Int) async {
        guard moments > 0 else { return }
        sync.goOn(moments: moments)
        advance(sync)
    }

    private func advance(_ sync: WorldSync) {
        for _ in 0..<200_000 {
            guard !sync.isOver, !sync.isHeld else { return }
            // A client does not wait for a gateway that stands still.
            if let request = requests.first(where: { $0.sync === sync }), gateways[request.gateway].life.isPaused {
                return abandon(sync)
            }
            if !step(), !time.leap() {
                return complain("the request of \(users.devices[sync.device].name) waits for nothing")
            }
        }
        complain("the request of \(users.devices[sync.device].name) does not come to an end")
    }

    /// Runs what a device has under way to its end.
    func finish(_ index: Int) async {
        for request in requests where request.sync.device == index { await run(request.sync) }
    }

    /// Runs a whole sync without any disturbance: a pull, and a push if the pull succeeded.
    @discardableResult
    package func sync(_ index: Int) async throws -> WorldSync {
        let pull = beginPull(index)
        await run(pull)
        if pull.isOver, pull.failure == nil { try await push(index) }
        return pull
    }

    /// Runs a whole push, if there are edits.
    package func push(_ index: Int, _ outcome: WorldPushOutcome = .answered) async throws {
        if let push = try beginPush(index, outcome) { await run(push) }
    }

    /// Makes the device stop waiting for the answer, without the gateway's notice.
    package func abandon(_ sync: WorldSync) {
        guard !sync.isOver, !sync.isAbandoned else { return }
        sync.abandon()
        users.devices[sync.device].isSyncing = false
    }

    private func handOver() {
        guard requests.contains(where: { $0.sync.isOver }) else { return }
        readLog()
        while let index = requests.firstIndex(where: \.sync.isOver) {
            let request = requests.remove(at: index)
            let sync = request.sync
            if let failure = sync.failure {
                count("failed: \(GatewayError(failure).code)")
                note("   \(sync.number) of \(users.devices[sync.device].name) failed: \(failure)")
            }
            if let figures = sync.figures { count(figures) }
            // A 409 promises that what it names comes again.
            if sync.code == "push.conflict" {
                let pushed = Set(request.pushed.map(\.key))
                users.expectEchoes(of: pushed, isAnswered: true)
                // Those below what the push deletes come to this device alone.
                for list in (sync.failure as? GatewayError)?.details ?? [] {
                    guard let table = SimulatedTable.allCases.first(where: { "\($0)" == list.table }) else { continue }
                    for key in list.ids.map({ users.backend.ids.key(table, $0) }) where !pushed.contains(key) {
                        users.devices[sync.device].mayGetAgain[key, default: 0] += 1
                    }
                }
            }
            users.takeComplaints().forEach(complain)
            guard !sync.isAbandoned else { continue }
            users.devices[sync.device].isSyncing = false
            guard sync.failure == nil else { continue }
            if let answer = sync.answer {
                take(answer, of: request)
            } else if sync.outcome != .answerLost {
                let rejected = sync.rejected.map { users.backend.ids.key($0.table, $0.id) }
                users.devices[sync.device].markPushed(request.pushed, without: Set(rejected))
                if !sync.rejected.isEmpty { count("records rejected") }
            }
        }
    }

    private func take(_ answer: SimulatedAnswer, of request: Request) {
        let sync = request.sync
        let device = users.devices[sync.device]
        let answer = answer.resolved(by: users.backend.ids, for: device)
        note("   \(sync.number) answers \(answer.timestamp) to \(device.name): \(answer.summary)")
        if let repeated = answer.repeated { complain("\(repeated) is twice in one answer") }
        if answer.timestamp != sync.presented?.rawValue {
            if sync.isIdle { complain("an answer without changes carries another cursor") }
            if !handedOut.insert(answer.timestamp).inserted {
                complain("the cursor \(answer.timestamp) is handed out twice")
            }
        }
        guard device.cursor == sync.presented else { return }
        if setup.hasLedger {
            users.complaints(about: answer, of: sync, request.comparison).forEach(complain)
        }
        users.devices[sync.device].apply(answer)
        if request.isForgotten { users.setAdrift(sync.device) }
    }

    private func count(_ figures: SyncFigures) {
        count("mode \(figures.mode)")
        if let restart = figures.restart { count("restart \(restart)") }
        if figures.migration != nil { count(figures.restart == nil ? "migration" : "migration in a restart") }
        if figures.comparison != nil { count("comparison") }
        if figures.linesKept > 0 { count("went on from a lost answer") }
        if figures.looks > 1 { count("second look") }
        let diffed = figures.diffed
        let ways = [
            "absent": diffed.absent, "descendants": diffed.descendants, "equal": diffed.equal, "echoes": diffed.echoes,
            "repairs": diffed.repairs,
        ]
        for (way, number) in ways where number > 0 { count(way) }
    }

    /// Counts what the gateways have logged, takes over what it tells of requests, and complains of what should never
    /// be.
    func readLog() {
        for line in log.lines {
            count("log: \(line.metadata["code"] ?? line.message)")
            if line.metadata["code"]?.hasPrefix("internal") == true { complain("logged: \(line)") }
            let number = line.metadata[Self.requestKey]
            guard let index = requests.firstIndex(where: { "\($0.sync.number)" == number }) else { continue }
            if line.metadata["code"] == "ledger.sweep_failed" { requests[index].sync.dropLooks() }
            guard line.message == "what came is compared with what the device has" else { continue }
            let (basis, isExact) = (line.metadata["basis"] ?? "", line.metadata["exact"] == "true")
            requests[index].comparison.isExact = isExact
            requests[index].comparison.untracked = Set(
                line.metadata["untracked"]?.split(separator: " ").map(String.init) ?? [])
            count("basis \(basis)\(isExact ? "" : ", not exact")")
        }
        log.clear()
    }
}
