// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import JSONBytes
import NIOConcurrencyHelpers
import SyncModel
import WatermelonWire

// Requests.
extension World {
    /// A device asks for what is new.
    package func beginPull(_ index: Int) {
        let device = people.devices[index]
        let pull = PullRequest(
            lastPulledAt: device.cursor.map { .cursor($0.rawValue) } ?? .never, schemaVersion: device.told,
            migration: device.asked)
        var request = makeRequest(index, isPull: true)
        request.presented = device.cursor
        note("\(device.name) pulls with \(device.cursor.map(\.description) ?? "nothing")")
        begin(request, of: device) { [answer = request.answer] gateway, caller in
            let body = try await gateway.pull(pull, caller: caller)
            var bytes: [UInt8] = []
            try await body.write { piece in
                await Task.yield()
                bytes += piece
            }
            answer.withLockedValue { $0 = bytes }
        }
    }

    /// A device sends its edits, if it has any; returns whether it had.
    @discardableResult
    package func beginPush(_ index: Int, _ outcome: SimulatedPush.Outcome = .answered) throws -> Bool {
        let device = people.devices[index]
        let pending = device.pending.sorted { $0.key < $1.key }
        guard !pending.isEmpty, device.cursor != nil else { return false }
        let presented =
            switch setup.pushTime {
            case .now: device.cursor
            case .none: Cursor?.none
            case .before: device.cursorBefore ?? device.cursor
            }
        var request = makeRequest(index, isPull: false, outcome, doubtful: pending.last?.key)
        request.pushed = pending.map { ($0.key, $0.value) }
        let push = try read(pending, of: device, presented)
        note("\(device.name) pushes \(pending.map(\.key)) with \(presented?.description ?? "nothing"), \(outcome)")
        count("push \(outcome)")
        people.pushed.formUnion(pending.map(\.key))
        people.unmade.formUnion(pending.filter { $0.value.status == .deleted }.map(\.key))
        begin(request, of: device) { gateway, caller in _ = try await gateway.push(push, caller: caller) }
        return true
    }

    /// What the gateway's own reader makes of what the app sends.
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
                        $0.value.record.json(id: $0.key.id, table: table, version: device.version)
                    })
            }
            let deleted = own.filter { $0.value.status == .deleted }.map { JSONValue.string($0.key.id) }
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

    private enum WorldError: Error { case notAPush }

    private func makeRequest(
        _ index: Int, isPull: Bool, _ outcome: SimulatedPush.Outcome = .answered, doubtful: SimulatedKey? = nil
    ) -> Request {
        syncCount += 1
        people.devices[index].isSyncing = true
        return Request(
            sync: WorldSync(number: syncCount, device: index, outcome: outcome, doubtful: doubtful),
            gateway: syncCount % gateways.count,
            isPull: isPull, began: people.backend.counter)
    }

    private func begin(
        _ request: Request, of device: SimulatedDevice,
        _ body: @escaping @Sendable (SyncGateway, Caller) async throws -> Void
    ) {
        requests.append(request)
        let gateway = gateways[request.gateway].gateway
        let sync = request.sync
        let caller = Caller(
            fields: [.authorization: "Bearer \(device.session.rawValue)"], requestID: "r\(sync.number)",
            logger: log.logger("request"))
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

    /// Runs a job, and hands over what came of it.
    ///
    /// - Returns: Whether there was one.
    package func step() -> Bool {
        guard executor.step() else { return false }
        handOver()
        return true
    }

    private func handOver() {
        while let index = requests.firstIndex(where: \.sync.isOver) {
            let request = requests.remove(at: index)
            let name = people.devices[request.sync.device].name
            if let failure = request.sync.failure {
                count("failed: \(GatewayError(failure).code)")
                note("   \(request.sync.number) of \(name) failed: \(failure)")
            }
            guard !request.sync.isAbandoned else { continue }
            people.devices[request.sync.device].isSyncing = false
            guard request.sync.failure == nil else { continue }
            if request.isPull {
                take(request)
            } else if request.sync.outcome != .answerLost {
                people.devices[request.sync.device].markPushed(request.pushed)
            }
        }
    }

    private func take(_ request: Request) {
        let device = people.devices[request.sync.device]
        guard let answer = SimulatedAnswer(json: request.answer.withLockedValue { $0 }) else {
            return complain("\(device.name) cannot read its answer")
        }
        note("   \(request.sync.number) answers \(answer.timestamp) to \(device.name): \(answer.summary)")
        if let repeated = answer.repeated { complain("\(repeated) is twice in one answer") }
        if answer.timestamp != request.presented?.rawValue, !handedOut.insert(answer.timestamp).inserted {
            complain("the cursor \(answer.timestamp) is handed out twice")
        }
        guard device.cursor == request.presented else { return }
        if setup.hasLedger { check(answer, of: request) }
        people.devices[request.sync.device].apply(answer)
    }

    /// Runs until a device's request is over; complains where it never is.
    package func finish(_ index: Int) {
        for _ in 0..<200_000 {
            guard people.devices[index].isSyncing else { return }
            if !step(), !time.leap() {
                return complain("the request of \(people.devices[index].name) waits for nothing")
            }
        }
        complain("the request of \(people.devices[index].name) does not come to an end")
    }

    /// A whole sync without any disturbance; says why the pull failed, if it did.
    package func sync(_ index: Int) throws -> (any Error)? {
        beginPull(index)
        let pull = requests.last?.sync
        finish(index)
        if let failure = pull?.failure { return failure }
        if try beginPush(index) { finish(index) }
        return nil
    }
}
