// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayTesting
import StateStore

// What must be true when all is quiet.
extension PushFaultCourse {
    mutating func finish(_ stack: GatewayStack, isCompared: Bool = false) async throws {
        for place in devices.indices { devices[place].http = stack.http }
        for round in 0..<manner.quietRounds {
            // Nothing is left to do for anybody.
            if round > 1, manner.isShort, devices.allSatisfy({ !$0.model.hasUnsyncedChanges }) { break }
            for place in devices.indices {
                do {
                    try tidy(place)
                    try await devices[place].sync()
                } catch let failure as StackDevice.Failure {
                    // What is in conflict comes with the next pull.
                    if round > 1 { outcome.problems.append("device \(place) in quiet round \(round): \(failure)") }
                }
            }
        }
        let contents = try await StackOracle.contents(
            of: backend, for: user.email, schema: tables.schema, version: tables.version)
        let oracle = tables.oracle
        let present = names(in: contents)
        let quarantined = Set(
            try await stack.store.inspection.quarantinedPushes(of: nil, after: 0, limit: 99).map(\.push.key.id))
        for (place, device) in devices.enumerated() {
            if device.model.hasUnsyncedChanges { outcome.problems.append("device \(place) has unsynced changes") }
            let left = oracle.differences(device.model.contents, contents)
            let orphans = names(in: device.model.contents).subtracting(present).filter(isOrphan)
            // Those whose parent was gone when they were pushed wait in quarantine, and stay on their device.
            let kept = names(in: device.model.contents.mapValues { $0.filter { quarantined.contains($0.key) } })
            if !isCompared || orphans.isSubset(of: kept), left.count == orphans.count {
                outcome.compared += orphans.count
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
    /// call makes that anew. The full comparison finds what is left then.
    private func isOrphan(_ name: String) -> Bool { !deleted.contains(name) && isDeleted(name) }

    /// Whether a record was deleted, or anything that it belongs to.
    private func isDeleted(_ name: String) -> Bool {
        if deleted.contains(name) { return true }
        guard case .some(.some(let parent)) = made[name] else { return false }
        return isDeleted(parent)
    }
}
