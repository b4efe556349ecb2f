// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import StateStore
package import SyncModel

extension World {
    /// Performs one operation.
    package func perform(_ op: SimulationOp) async throws {
        switch op {
        case .step(_, let count), .stepPush(_, let count):
            pass(1)
            for _ in 0..<count * 4 { if !step(), !time.leap() { break } }
        case .pull(let device):
            let index = device % users.devices.count
            if !users.devices[index].isSyncing { beginPull(index) }
        case .sync(let device):
            let index = device % users.devices.count
            pass(1)
            if !users.devices[index].isSyncing { try await sync(index) }
        case .push(let device, let outcome, let isStepped):
            let index = device % users.devices.count
            guard !users.devices[index].isSyncing, let push = try beginPush(index, outcome) else { return }
            if !isStepped { await run(push) }
        case .abandon(let choice): if let sync = pick(choice) { abandon(sync) }
        case .loseRequest(let choice): pick(choice)?.fail(next: .lostRequest)
        case .loseAnswer(let choice): pick(choice)?.fail(next: .lostAnswer)
        case .cut(let choice): pick(choice)?.cut()
        case .crash:
            // Of two gateways mostly one goes on.
            let one = Int(executor.draw() % UInt64(gateways.count))
            try crash(executor.draw() % 3 == 0 ? gateways.indices : one..<one + 1)
        case .pause(let choice): pause(choice % gateways.count)
        case .goOn: goOn()
        case .saveState: savedBytes = bytes.copy()
        case .restoreState: try await restoreState()
        case .wait(let milliseconds):
            pass(milliseconds)
            if milliseconds >= 3_000 { storeDeferred() }
        case .days(let days): try await pass(days: days)
        case .fill(let choice): fill(choice == 0 ? nil : choice % 2 == 0 ? .state : .spools)
        case .accept, .resync, .forget, .distrust: try await performOnReplica(op)
        case .retry: try await retry()
        case .reconfigure:
            mapping += 1
            try crash()
        case .write, .mishap, .edit, .backup, .restore, .clone, .logInAnew, .updateApp:
            users.now = time.now
            users.perform(op)
        }
    }

    private func pick(_ choice: Int) -> WorldSync? {
        requests.isEmpty ? nil : requests[choice % requests.count].sync
    }

    /// Pauses a gateway in whatever it is doing; any other goes on.
    package func pause(_ index: Int) {
        guard gateways.count > 1 else { return }
        goOn()
        note("gateway \(index) stands still")
        count("pause")
        gateways[index].life.pause()
    }

    /// Lets paused gateways go on from where they were.
    package func goOn() {
        for gateway in gateways where gateway.life.isPaused {
            note("a gateway goes on")
            gateway.life.goOn()
        }
    }

    /// Lets time pass; less than nothing sets the clock back.
    package func pass(_ milliseconds: Int64) { time.pass(milliseconds: milliseconds) }

    /// Gateways die and start again: only the state is left.
    package func crash() throws { try crash(gateways.indices) }

    private func crash(_ dying: Range<Int>) throws {
        note("gateways \(dying) crash")
        count("crash")
        for index in dying { gateways[index].life.end() }
        for request in requests where dying.contains(request.gateway) {
            abandon(request.sync)
            // Its tasks end where they would do the next thing.
            request.sync.goOn()
        }
        requests.removeAll { dying.contains($0.gateway) }
        for index in dying { gateways[index] = try start() }
    }

    /// Schedules a retry of all quarantined entries, as an operator does.
    func retry() async throws {
        let marked = try await store.commands.scheduleRetries(nil, of: nil, at: time.now)
        guard !marked.isEmpty else { return }
        count("retries")
        note("what was quarantined is tried again: \(marked)")
        guard let principal = try await store.inspection.replicas(of: nil, after: nil, limit: 1).first?.principal else {
            return
        }
        let pushes = try await store.read(principal) { try QuarantineRules.scheduled(limit: 1_000, of: &$0) }
        let keys = pushes.compactMap { push in
            SimulatedTable.allCases.first { $0.name == push.push.key.table }.map {
                users.backend.ids.key($0, push.push.key.id)
            }
        }
        users.expectEchoes(of: keys, isAnswered: false)
    }

    private func performOnReplica(_ op: SimulationOp) async throws {
        let replicas = try await store.inspection.replicas(of: nil, after: nil, limit: 100)
        guard !replicas.isEmpty else { return }
        switch op {
        case .accept(let choice):
            let replica = replicas[choice % replicas.count]
            try await store.change(replica.principal) {
                try ReplicaRules.acceptDeletions(of: replica.id, at: time.now, in: &$0)
            }
        case .resync(let choice):
            let replica = replicas[choice % replicas.count]
            try await store.change(replica.principal) {
                try ReplicaRules.resync(replica.id, at: time.now, in: &$0)
            }
        case .forget(let choice):
            let replica = replicas[choice % replicas.count]
            note("replica \(replica.id) is forgotten")
            count("forget")
            _ = try await store.change(replica.principal) {
                try ReplicaRules.forget(replica.id, at: time.now, in: &$0)
            }
            // What they have, or are about to get, is compared with other devices' ledgers, if there are any.
            users.setAdrift()
            for index in requests.indices { requests[index].isForgotten = true }
        case .distrust(let choice):
            let principal = replicas[choice % replicas.count].principal
            note("\(principal) is distrusted")
            count("distrust")
            _ = try await store.commands.distrust(because: .backend, of: principal, at: time.now)
        default: break
        }
    }

    /// Restores an older copy of the state, or begins with an empty one if there is none, as an operator does.
    private func restoreState() async throws {
        pass(1_000)
        note("an older state is restored")
        restore(savedBytes)
        try crash()
        _ = try await store.commands.distrust(because: .state, of: nil, at: time.now)
        users.setAdrift()
    }

    private func pass(days: Int) async throws {
        // No request lasts that long.
        try crash()
        note("\(days) days pass")
        pass(Int64(days) * WorldConfiguration.day)
        users.backend.pass(days: days)
        var retention = Retention(
            now: time.now, seenBefore: time.now - WorldConfiguration.maxOffline,
            undoBefore: time.now - WorldConfiguration.rewind)
        retention.ran = Int64(days) * WorldConfiguration.day
        let before = try await store.inspection.replicas(of: nil, after: nil, limit: 1_000).count
        _ = try await store.collect(retention)
        if try await store.inspection.replicas(of: nil, after: nil, limit: 1_000).count < before { users.setAdrift() }
        for (index, device) in users.devices.enumerated() {
            // Notes of what it has pushed since the state was lost are kept for nobody.
            if device.cursor != nil, try await context(of: device)?.row == nil { users.setAdrift(index) }
            if let context = try await context(of: device), let row = context.row, context.isFork, !row.isConfirmed,
                context.ledger?.isExact == false
            {
                users.setStraysAdrift(of: index)
            }
        }
    }
}

// What the state has.
extension World {
    /// Returns the state's context of a device's cursor; nil if the device has none.
    func context(of device: SimulatedDevice) async throws -> StoredPullContext? {
        try await context(of: device.cursor, device.session)
    }

    private func context(of cursor: Cursor?, _ session: Session) async throws -> StoredPullContext? {
        guard let cursor,
            let principal = try await store.inspection.replicas(of: nil, after: nil, limit: 1).first?.principal
        else { return nil }
        return try await store.read(principal) { try ContextRule.context(of: &$0, session: session, presented: cursor) }
    }

    /// Returns the position of a pull's session at the backend, as the state has it; nil if the pull has no row.
    package func position(after pull: WorldSync) async throws -> Position? {
        guard let row = try await row(of: pull) else { return nil }
        return try await store.read(row.principal) {
            try ContextRule.context(of: &$0, session: row.session, presented: nil)
        }.session
            .position
    }

    /// Returns the row of the cursor that a pull was answered with.
    package func row(of pull: WorldSync) async throws -> CursorRow? {
        try await context(of: pull.cursor, users.devices[pull.device].session)?.row
    }

    /// Returns the number of replicas.
    package func replicaCount() async throws -> Int {
        try await store.inspection.replicas(of: nil, after: nil, limit: 1_000).count
    }
}
