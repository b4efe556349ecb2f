// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import MemoryState
import StateStore
import SyncModel

// What happens to the gateways.
extension World {
    /// Gateways die and start again: only the state is left.
    package func crash() throws { try crash(gateways.indices) }

    private func crash(_ dying: Range<Int>) throws {
        note("gateways \(dying) crash")
        count("crash")
        for index in dying { gateways[index].life.end() }
        for request in requests where dying.contains(request.gateway) && !request.sync.isAbandoned {
            request.sync.abandon()
            people.devices[request.sync.device].isSyncing = false
        }
        requests.removeAll { dying.contains($0.gateway) }
        for index in dying { gateways[index] = try start() }
    }

    /// Makes one thing happen.
    package func perform(_ op: SimulationOp) async throws {
        switch op {
        case .step(_, let count), .stepPush(_, let count):
            time.pass(milliseconds: 1)
            for _ in 0..<count * 4 { if !step(), !time.leap() { break } }
        case .pull(let device):
            let index = device % people.devices.count
            if !people.devices[index].isSyncing { beginPull(index) }
        case .sync(let device):
            let index = device % people.devices.count
            time.pass(milliseconds: 1)
            if !people.devices[index].isSyncing { _ = try sync(index) }
        case .push(let device, let outcome, let isStepped):
            let index = device % people.devices.count
            guard !people.devices[index].isSyncing else { return }
            if try beginPush(index, outcome), !isStepped { finish(index) }
        case .abandon(let choice): abandon(choice)
        case .loseRequest(let choice): pick(choice)?.sync.fail(next: .lostRequest)
        case .loseAnswer(let choice): pick(choice)?.sync.fail(next: .lostAnswer)
        case .cut(let choice): pick(choice)?.sync.cut()
        case .crash:
            // Of two gateways mostly one goes on.
            let one = Int(executor.draw() % UInt64(gateways.count))
            try crash(executor.draw() % 3 == 0 ? gateways.indices : one..<one + 1)
        case .saveState: savedStore = store.copy()
        case .restoreState: try await restoreState()
        case .wait(let milliseconds): time.pass(milliseconds: milliseconds)
        case .days(let days): try await pass(days: days)
        case .busy(let choice): fill(choice == 0 ? nil : choice % 2 == 0 ? .state : .spools)
        case .accept, .resync: try await performOnReplica(op)
        case .reconfigure:
            mapping += 1
            try crash()
        default:
            people.now = time.now
            try await people.perform(op)
        }
    }

    private func pick(_ choice: Int) -> Request? {
        requests.isEmpty ? nil : requests[choice % requests.count]
    }

    /// The device stops waiting for the answer, the gateway does not notice.
    private func abandon(_ choice: Int) {
        guard let request = pick(choice), !request.sync.isAbandoned else { return }
        request.sync.abandon()
        people.devices[request.sync.device].isSyncing = false
    }

    private func performOnReplica(_ op: SimulationOp) async throws {
        let replicas = try await store.replicas(of: nil, after: nil, limit: 100)
        guard !replicas.isEmpty else { return }
        switch op {
        case .accept(let choice):
            try await store.acceptDeletions(replica: replicas[choice % replicas.count].id, at: time.now)
        case .resync(let choice):
            try await store.resync(replica: replicas[choice % replicas.count].id, at: time.now)
        default: break
        }
    }

    /// An operator puts an older copy of the state in place, or begins with an empty one where there is none.
    private func restoreState() async throws {
        time.pass(milliseconds: 1_000)
        note("an older state is restored")
        store = savedStore?.copy() ?? MemoryStateStore()
        try crash()
        _ = try await store.raiseAllGenerations()
        for replica in try await store.replicas(of: nil, after: nil, limit: 1_000) {
            try await store.resync(replica: replica.id, at: time.now)
        }
        people.setAdrift()
    }

    private func pass(days: Int) async throws {
        // No request lasts that long.
        try crash()
        time.pass(milliseconds: Int64(days) * Simulation.day)
        people.backend.pass(days: days)
        var retention = Retention(
            now: time.now, seenBefore: time.now - Simulation.maxOffline, undoBefore: time.now - Simulation.rewind)
        retention.ran = Int64(days) * Simulation.day
        let before = try await store.replicas(of: nil, after: nil, limit: 1_000).count
        _ = try await store.collect(retention)
        if try await store.replicas(of: nil, after: nil, limit: 1_000).count < before { people.setAdrift() }
        // What only one of two copies of a device got is unknown after the rewind.
        if people.devices.count > setup.devices { people.setAdrift() }
    }
}
