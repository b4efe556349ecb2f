// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import MemoryState
import StateStore
import SyncModel

// What must never happen, looked at with every answer.
extension World {
    func check(_ answer: SimulatedAnswer, of request: Request) {
        let device = people.devices[request.sync.device]
        // The library would bring back to life what the device has deleted.
        for key in answer.created.keys.sorted()
        where request.presented != nil && device.records[key] != nil && !people.adrift.contains(key) {
            complain("\(key) is created for \(device.name), which has it already")
        }
        for key in answer.deleted.sorted() where device.records[key] != nil {
            if let reason = people.complaint(
                ofDeleting: key, on: device, began: request.began, lookedAt: request.sync.lookedAt)
            {
                complain(reason)
            }
        }
    }
}

// What must be true in the end.
extension World {
    /// Lets everything come to rest; says what is wrong, nil where nothing is.
    package func quiesce() async throws -> String? {
        for index in people.devices.indices { finish(index) }
        var jobs = 0
        while step() || time.leap() {
            jobs += 1
            if jobs > 200_000 { return "what nobody waits for does not come to an end" }
        }
        people.comeToRest()
        fill(nil)
        note("--- quiet")
        if let complaint = try await quiet(rounds: 1, pause: 1_000) { return complaint }
        people.showVersions()
        if let complaint = try await quiet(rounds: 4, pause: 1_000) { return complaint }
        if let difference = try await difference(isCompared: false) { return difference }
        countLog()
        guard setup.hasLedger, complaints.isEmpty else { return complaints.first }
        note("--- full comparison")
        time.pass(milliseconds: 10 * Simulation.day)
        people.backend.pass(days: 10)
        let rounds = SimulatedTable.allCases.count + 3
        if let complaint = try await quiet(rounds: rounds, pause: 7_200_000) { return complaint }
        let last = try await difference(isCompared: true)
        countLog()
        return last ?? complaints.first
    }

    private func quiet(rounds: Int, pause: Int64) async throws -> String? {
        for _ in 0..<rounds {
            for index in people.devices.indices {
                if let failure = try sync(index) {
                    return "a quiet pull of \(people.devices[index].name) failed: \(failure)"
                }
                time.pass(milliseconds: 1_000)
                if let complaint = complaints.first { return complaint }
            }
            time.pass(milliseconds: pause)
            for replica in try await store.replicas(of: nil, after: nil, limit: 1_000) {
                try await store.acceptDeletions(replica: replica.id, at: time.now)
            }
        }
        return nil
    }

    /// How a device differs from the backend, beyond what the protocol cannot tell (``Simulation/difference()``).
    private func difference(isCompared: Bool) async throws -> String? {
        let principal = try await store.replicas(of: nil, after: nil, limit: 1).first?.principal
        var isComparing: [Bool] = []
        for device in people.devices {
            guard let principal, let cursor = device.cursor else {
                isComparing.append(false)
                continue
            }
            let context = try await store.pullContext(
                principal: principal, session: device.session, presented: cursor)
            let comparisons = context.row?.comparisons.values.map { $0 } ?? []
            isComparing.append(comparisons.contains { $0.triedAt > 0 || $0.doneAt == 0 })
        }
        return people.difference(isCompared: isCompared, comparing: isComparing)
    }
}
