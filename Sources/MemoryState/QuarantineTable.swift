// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Keeps the pushed records that the backend has refused.
struct QuarantineTable: Sendable {
    private var last: Int64 = 0
    var entries: [Int64: QuarantinedPush] = [:]
    /// The number of retries with unknown outcome since the entry was scheduled, by the entry's number.
    var tries: [Int64: Int] = [:]

    func entries(of principal: Principal) -> [QuarantinedPush] {
        entries.values.filter { $0.principal == principal }.sorted { $0.id < $1.id }
    }

    /// Puts records into quarantine, each in place of an older entry of the same record.
    mutating func quarantine(
        _ pushes: [QuarantinedOperation], of principal: Principal, limit: Int, at now: Instant
    ) throws(StateError) -> [Int64] {
        let known = entries(of: principal)
        let added = Set(pushes.map(\.key)).subtracting(known.map(\.push.key)).count
        guard known.count + added <= limit else { throw .tooLarge("quarantine of a principal's pushes") }
        var numbers: [Int64] = []
        for push in pushes { numbers.append(try quarantine(push, of: principal, at: now)) }
        return numbers
    }

    private mutating func quarantine(
        _ push: QuarantinedOperation, of principal: Principal, at now: Instant
    ) throws(StateError) -> Int64 {
        _ = try key(push.key.table, "table")
        var push = push
        push.reason.message = push.reason.message.map { remark($0, limit: 1_024) }
        guard var entry = entries(of: principal).first(where: { $0.push.key == push.key }) else {
            last += 1
            entries[last] = QuarantinedPush(
                id: last, principal: principal, push: push, count: 1, firstAt: now, lastAt: now)
            return last
        }
        push.kind = push.kind(after: entry.push.kind)
        entry.push = push
        entry.isWhole = true
        entry.count += 1
        entry.lastAt = max(entry.lastAt, now)
        entry.markedAt = nil
        entries[entry.id] = entry
        return entry.id
    }

    /// Deletes entries and returns the numbers that existed.
    mutating func drop(_ ids: [Int64]) -> [Int64] {
        ids.filter { entries.removeValue(forKey: $0) != nil }
    }
}
