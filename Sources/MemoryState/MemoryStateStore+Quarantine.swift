// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension MemoryStateStore: QuarantineAdmin {
    /// Records the refused operations of a push, and its result as the replica's last one.
    package func noteRefusals(
        _ operations: [RefusedOperation], of principal: Principal, replica: ReplicaID?, result: String, at now: Instant
    ) async throws {
        try await write { contents in
            let limit = max(1, contents.limits.refusalsPerPrincipal)
            guard var owner = try contents.owner(principal) else { return }
            for var operation in operations.suffix(limit) {
                _ = try key(operation.key.table, "table")
                operation.call = operation.call.map { remark($0) }
                operation.reason.message = operation.reason.message.map { remark($0, limit: 1_024) }
                let known = owner.refusals[operation.key]
                owner.refusals[operation.key] = RefusalEntry(
                    operation: operation, count: (known?.count ?? 0) + 1, firstAt: known?.firstAt ?? now,
                    lastAt: max(known?.lastAt ?? now, now))
            }
            for old in owner.newestRefusals.dropFirst(limit) { owner.refusals[old.operation.key] = nil }
            contents.owners[principal] = owner
            guard let replica, let known = contents.replicas[replica], known.principal == principal else { return }
            contents.replicas[replica]?.lastSeen = max(known.lastSeen, now)
            contents.replicas[replica]?.lastResult = remark(result)
        }
    }

    /// Returns refusals, newest first.
    package func refusals(of principal: Principal, limit: Int) async throws -> [RefusalEntry] {
        try await read { Array(try $0.owner(principal)?.newestRefusals.prefix(max(0, limit)) ?? []) }
    }

    /// Finds the refusal of one record.
    package func refusal(of principal: Principal, key: PushedRecordKey) async throws -> RefusalEntry? {
        try await read { try $0.owner(principal)?.refusals[key] }
    }

    /// Returns the quarantined records with their kinds.
    package func quarantinedKinds(of principal: Principal) async throws -> [PushedRecordKey: OperationKind] {
        try await read { contents in
            contents.pushes.entries(of: principal).reduce(into: [:]) { $0[$1.push.key] = $1.push.kind }
        }
    }

    /// Puts records into quarantine.
    package func quarantine(
        _ pushes: [QuarantinedOperation], of principal: Principal, limit: Int, at now: Instant
    ) async throws -> [Int64] {
        guard !pushes.isEmpty else { return [] }
        return try await write { contents in
            try contents.withOwner(principal, at: now) { _ in }
            return try contents.pushes.quarantine(pushes, of: principal, limit: limit, at: now)
        }
    }

    /// Removes the entries of records.
    package func removeQuarantined(_ keys: [PushedRecordKey], of principal: Principal) async throws {
        try await write { contents in
            let entries = contents.pushes.entries(of: principal).filter { keys.contains($0.push.key) }
            _ = contents.pushes.drop(entries.map(\.id))
        }
    }

    /// Returns scheduled retries, oldest first.
    package func scheduledRetries(of principal: Principal, limit: Int) async throws -> [QuarantinedPush] {
        try await read { contents in
            Array(contents.pushes.entries(of: principal).filter { $0.markedAt != nil }.prefix(max(0, limit)))
        }
    }

    /// Counts a retry.
    package func countTry(ofQuarantined id: Int64, at now: Instant) async throws -> Int {
        try await write { contents in
            guard let entry = contents.pushes.entries[id] else { return 0 }
            contents.pushes.entries[id]?.lastAt = max(entry.lastAt, now)
            contents.pushes.tries[id, default: 0] += 1
            return contents.pushes.tries[id] ?? 0
        }
    }

    /// Cancels the schedule of an entry that was refused again.
    package func quarantineAgain(_ id: Int64, reason: QuarantinedOperation.Reason, at now: Instant) async throws {
        try await write { contents in
            guard var entry = contents.pushes.entries[id] else { return }
            entry.markedAt = nil
            entry.count += 1
            entry.lastAt = max(entry.lastAt, now)
            entry.push.reason = reason
            entry.push.reason.message = reason.message.map { remark($0, limit: 1_024) }
            contents.pushes.entries[id] = entry
        }
    }

    /// Returns entries without bodies.
    package func quarantinedPushes(
        of principal: Principal?, after: Int64, limit: Int
    ) async throws -> [QuarantinedPush] {
        try await read { contents in
            let entries = contents.pushes.entries.values.filter {
                $0.id > after && $0.principal.isOf(principal)
            }
            return entries.sorted { $0.id < $1.id }.prefix(page(limit)).map { entry in
                var entry = entry
                entry.push.body = []
                return entry
            }
        }
    }

    /// Finds one entry.
    package func quarantinedPush(_ id: Int64) async throws -> QuarantinedPush? {
        try await read { $0.pushes.entries[id] }
    }

    /// Schedules entries to be retried.
    package func scheduleRetries(_ ids: [Int64]?, of principal: Principal?, at now: Instant) async throws -> [Int64] {
        try await write { contents in
            if let principal {
                _ = try key(principal.rawValue, "principal")
                guard contents.owners.keys.contains(where: { $0.belongs(to: principal) }) else { return [] }
            }
            let all = contents.pushes.entries.values.filter { $0.principal.isOf(principal) }
            let found = (ids ?? all.map(\.id).sorted()).filter { contents.pushes.entries[$0] != nil }
            for id in found {
                contents.pushes.entries[id]?.markedAt = now
                contents.pushes.tries[id] = nil
            }
            return found
        }
    }

    /// Deletes entries.
    package func dropPushes(_ ids: [Int64]) async throws -> [Int64] {
        try await write { $0.pushes.drop(ids) }
    }

    /// Returns lines in the order of their numbers.
    package func quarantinedLines(
        of principal: Principal?, after: Int64, limit: Int
    ) async throws -> [QuarantineEntry] {
        try await read { contents in
            let entries = contents.lines.entries.values.filter {
                $0.id > after && $0.principal.isOf(principal)
            }
            return Array(entries.sorted { $0.id < $1.id }.prefix(page(limit)))
        }
    }

    /// Finds one line.
    package func quarantinedLine(_ id: Int64) async throws -> QuarantineEntry? {
        try await read { $0.lines.entry(id) }
    }

    /// Deletes lines.
    package func dropLines(_ ids: [Int64]) async throws -> [Int64] {
        try await write { contents in
            ids.filter { id in
                let count = contents.lines.entries.count
                contents.lines.entries = contents.lines.entries.filter { $0.value.id != id }
                return contents.lines.entries.count < count
            }
        }
    }
}

extension Owner {
    fileprivate var newestRefusals: [RefusalEntry] {
        refusals.values.sorted {
            ($1.lastAt, $0.operation.key.table, $0.operation.key.id)
                < ($0.lastAt, $1.operation.key.table, $1.operation.key.id)
        }
    }
}
