// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension AccountStore: PushQuarantineStore, RefusalStore {
    package func noteRefusals(
        _ operations: [RefusedOperation], of principal: Principal, replica: ReplicaID?, result: String, at now: Instant
    ) async throws {
        try await accounts.change(principal) {
            try RefusalRules.note(operations, replica: replica, result: result, at: now, in: &$0)
        }
    }

    package func refusals(of principal: Principal, limit: Int) async throws -> [RefusalEntry] {
        try await accounts.read(principal) { Array(try RefusalRules.newest(in: &$0).prefix(max(0, limit))) }
    }

    package func refusal(of principal: Principal, key: PushedRecordKey) async throws -> RefusalEntry? {
        try await accounts.read(principal) { try RefusalRules.refusal(of: key, in: &$0) }
    }

    package func quarantinedKinds(of principal: Principal) async throws -> [PushedRecordKey: OperationKind] {
        try await accounts.read(principal) { try QuarantineRules.kinds(of: &$0) }
    }

    package func quarantine(
        _ pushes: [QuarantinedOperation], of principal: Principal, limit: Int, at now: Instant
    ) async throws -> [Int64] {
        guard !pushes.isEmpty else { return [] }
        return try await accounts.change(principal) {
            try QuarantineRules.add(pushes, limit: limit, at: now, in: &$0)
        }
    }

    package func removeQuarantined(_ keys: [PushedRecordKey], of principal: Principal) async throws {
        try await accounts.change(principal) { _ = try QuarantineRules.remove(keys, in: &$0) }
    }

    package func scheduledRetries(of principal: Principal, limit: Int) async throws -> [QuarantinedPush] {
        try await accounts.read(principal) { try QuarantineRules.scheduled(limit: limit, of: &$0) }
    }

    package func countTry(ofQuarantined id: Int64, at now: Instant) async throws -> Int {
        guard let (principal, row) = try await index.principal(ofRow: .push, id) else { return 0 }
        return try await accounts.change(principal) { try QuarantineRules.countTry(of: row.key, at: now, in: &$0) }
    }

    package func quarantineAgain(_ id: Int64, reason: QuarantinedOperation.Reason, at now: Instant) async throws {
        guard let (principal, row) = try await index.principal(ofRow: .push, id) else { return }
        try await accounts.change(principal) {
            try QuarantineRules.refuseAgain(row.key, reason: reason, at: now, in: &$0)
        }
    }
}

extension AccountStore: QuarantineAdmin {
    package func quarantinedPushes(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantinedPush]
    {
        let rows: [ByteRow]
        if let wanted = try await index.principals(behind: principal) {
            let found = try await store.load(wanted.map { .all(.push, of: $0.owner) }).joined()
            rows = Array(found.filter { $0.number > after }.sorted { $0.number < $1.number }.prefix(page(limit)))
        } else {
            let mark = Lookup.Mark(after, tie: .max)
            rows = try await store.load([
                .all(.push, by: .number, after: mark, limit: page(limit), descending: false)
            ])[0]
        }
        let names = try await index.principals(of: Set(rows.map(\.key.owner)))
        return try rows.compactMap { row in try names[row.key.owner].map { try QuarantineRules.entry(row, of: $0) } }
    }

    package func quarantinedPush(_ id: Int64) async throws -> QuarantinedPush? {
        guard let (principal, row) = try await index.principal(ofRow: .push, id) else { return nil }
        return try await accounts.read(principal) { try QuarantineRules.whole(row, of: &$0) }
    }

    package func scheduleRetries(_ ids: [Int64]?, of principal: Principal?, at now: Instant) async throws -> [Int64] {
        if let principal { _ = try key(principal.rawValue, "principal") }
        var wanted = ids
        if let principal {
            guard try await index.principals(behind: principal)?.isEmpty == false else { return [] }
        }
        if wanted == nil {
            wanted = try await quarantinedPushes(of: principal, after: 0, limit: .max).map(\.id)
        }
        var found: [Int64] = []
        for id in wanted ?? [] {
            guard let (owner, row) = try await index.principal(ofRow: .push, id) else { continue }
            try await accounts.change(owner) { try QuarantineRules.schedule(row.key, at: now, in: &$0) }
            found.append(id)
        }
        return found
    }

    package func dropPushes(_ ids: [Int64]) async throws -> [Int64] {
        var dropped: [Int64] = []
        for id in ids {
            guard let (principal, row) = try await index.principal(ofRow: .push, id) else { continue }
            let record = PushedRecordKey(keyBytes: row.key.key[...])
            if try await accounts.change(principal, { try QuarantineRules.remove([record], in: &$0) }) > 0 {
                dropped.append(id)
            }
        }
        return dropped
    }

    package func quarantined(limit: Int) async throws -> [QuarantineEntry] {
        // Lines whose records went out all the same have negative ranks.
        let lookups = [nil, Lookup.Mark(0, tie: .min)].map {
            Lookup.all(.line, by: .rank, after: $0, limit: page(limit), descending: true)
        }
        let rows = Set(try await store.load(lookups).joined())
        let entries = try rows.compactMap { try LineRules.entry($0) }
        return Array(entries.sorted { ($0.lastSeen, $0.id) > ($1.lastSeen, $1.id) }.prefix(page(limit)))
    }

    package func quarantineCounts() async throws -> QuarantineCounts {
        let reasons = QuarantinedLine.Reason.allCases
        let rows = try await store.load(
            reasons.map { .count(.line, of: 0, prefix: LineRules.prefix($0)) } + [.row(MetaKey.droppedLines.row)])
        var counts = QuarantineCounts()
        for (reason, found) in zip(reasons, rows) {
            guard let count = found.first?.number, count > 0 else { continue }
            counts.byReason[reason] = Int(count)
            counts.entries += Int(count)
        }
        counts.dropped = Int(rows.last?.first?.number ?? 0)
        return counts
    }

    package func quarantinedLines(of principal: Principal?, after: Int64, limit: Int) async throws -> [QuarantineEntry]
    {
        var (found, mark): ([QuarantineEntry], Lookup.Mark?) = ([], Lookup.Mark(after, tie: .max))
        while let start = mark, found.count < page(limit) {
            let rows = try await store.load([.all(.line, by: .number, after: start, limit: 500, descending: false)])[0]
            found += try rows.compactMap { try LineRules.entry($0) }.filter { entry in
                principal.map { entry.principal.belongs(to: $0) } ?? true
            }
            mark = rows.count < 500 ? nil : rows.last.map { Lookup.Mark($0.number, tie: $0.rank) }
        }
        return Array(found.prefix(page(limit)))
    }

    package func quarantinedLine(_ id: Int64) async throws -> QuarantineEntry? {
        try await store.load([.named(.line, id)])[0].first.flatMap { try LineRules.entry($0) }
    }

    package func dropLines(_ ids: [Int64]) async throws -> [Int64] {
        var dropped: [Int64] = []
        for id in ids {
            let rows = try await store.load([.named(.line, id)])[0]
            var changes = RowChanges()
            for row in rows { changes.rows[row.key] = .some(nil) }
            guard !changes.isEmpty else { continue }
            try await accounts.commit(changes)
            dropped.append(id)
        }
        return dropped
    }
}
