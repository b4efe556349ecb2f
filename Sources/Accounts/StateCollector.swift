// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Deletes what is no longer needed, principal by principal.
struct StateCollector: Sendable {
    let accounts: Accounts

    private var store: any ByteStore { accounts.store }

    private var index: PrincipalIndex { accounts.index }

    func collect(_ wanted: Retention) async throws -> Collected {
        var collected = Collected()
        var retention = try await passTime(wanted, &collected)
        retention.cursorLead = accounts.setting.cursorLead
        let (first, last) = (retention, retention)
        try await index.forEachPrincipal(behind: nil) { principal in
            try Task.checkCancellation()
            collected.add(
                try await accounts.change(principal, keeps: false) { try CollectionRules.collect(first, in: &$0) })
        }
        collected.chunks += try await collectStaged(before: retention.stagedBefore)
        collected.replicas = try await buryUnseen(retention)
        try await index.forEachPrincipal(behind: nil) { principal in
            try Task.checkCancellation()
            collected.add(
                try await accounts.change(principal, keeps: false) { try CollectionRules.finish(last, in: &$0) })
        }
        return collected
    }

    private func meta(_ keys: [MetaKey]) async throws -> [Int64?] {
        try await store.load(keys.map { .row($0.row) }).map { $0.first?.number }
    }

    private func set(_ values: [MetaKey: Int64]) async throws {
        var changes = RowChanges()
        for (key, value) in values { changes.rows[key.row] = ByteRow(key: key.row, number: value) }
        try await accounts.commit(changes)
    }

    /// Records a collection, and returns the retention corrected by the time that has really passed.
    private func passTime(_ wanted: Retention, _ collected: inout Collected) async throws -> Retention {
        while true {
            let row = try await store.load([.row(CollectionTime.key)])[0].first
            let before = try row.map { try CollectionTime(decoding: $0.bytes) }
            var time = before ?? CollectionTime()
            // How long this process has run says nothing about the time since another gateway's collection.
            let ran = time.collector == accounts.process ? wanted.ran : nil
            time.collector = accounts.process
            collected.leapt = time.pass(
                to: wanted.now, ran: ran, longest: wanted.now.milliseconds(since: wanted.seenBefore))
            if time == before { return time.corrected(wanted) }
            var changes = RowChanges()
            changes.expected[CollectionTime.key] = row?.version ?? 0
            changes.rows[CollectionTime.key] = ByteRow(
                key: CollectionTime.key, version: accounts.nextVersion(), bytes: try time.encoded())
            if try await accounts.isMade(changes) { return time.corrected(wanted) }
        }
    }

    private func collectStaged(before: Instant) async throws -> Int {
        let rows = try await store.load([
            .all(.staged, by: .number, after: nil, limit: 500, descending: false)
        ])[0].filter { $0.number < before.milliseconds }
        guard !rows.isEmpty else { return 0 }
        var changes = RowChanges()
        for row in rows {
            // A commit that names the chunks comes first, or finds that the layer is gone: its first row goes with any other.
            changes.expected[row.key] = row.version
            changes.rows[row.key] = .some(nil)
            changes.rows[RowKey(.staged, of: 0, Array(row.key.key.prefix(8)))] = .some(nil)
            changes.freedChunks += try StagedChunks(decoding: row.bytes).chunks.map(\.number)
        }
        guard try await accounts.isMade(changes) else { return 0 }
        // The first row of a layer has no chunks and only its number.
        return changes.freedChunks.count + rows.count { $0.key.key.count == 8 }
    }

    /// Forgets replicas that were not seen for long, but only a share of all replicas in an hour.
    private func buryUnseen(_ retention: Retention) async throws -> Int {
        var total = 0
        while true {
            try Task.checkCancellation()
            let count = try await buryBatch(retention)
            total += count
            if count < max(1, accounts.setting.limits.collectBatch) { return total }
        }
    }

    private func buryBatch(_ retention: Retention) async throws -> Int {
        let known = try await meta([.replicas, .burialsSince, .burialsLeft])
        var (since, left) = (Instant(milliseconds: known[1] ?? 0), Int(known[2] ?? 0))
        let unseen = try await store.load([
            .all(
                .replica, by: .rank, after: nil, limit: max(1, accounts.setting.limits.collectBatch), descending: false)
        ])[0].filter { row in
            // The rank is the hour; damaged heads go with it.
            row.rank < retention.seenBefore.hour
                || (try? ReplicaHead(decoding: row.bytes)).map { $0.lastSeen < retention.seenBefore } ?? false
        }
        guard !unseen.isEmpty else { return 0 }
        if retention.now.milliseconds(since: since) >= CollectionTime.period || since > retention.now {
            (since, left) = (retention.now, max(1, Int(known[0] ?? 0) / CollectionTime.burialShare))
        }
        let names = try await index.principals(of: Set(unseen.map(\.key.owner)))
        var buried = 0
        for row in unseen.prefix(left) {
            guard let principal = names[row.key.owner] else { continue }
            let id = ReplicaID(rawValue: row.number)
            let isForgotten = try await accounts.change(principal, keeps: false) { account in
                // It may have come back meanwhile.
                guard let replica = try account.replica(id), replica.lastSeen < retention.seenBefore else {
                    return false
                }
                return try ReplicaRules.forget(id, at: retention.now, in: &account)
            }
            if isForgotten { buried += 1 }
        }
        try await set([.burialsSince: since.milliseconds, .burialsLeft: Int64(left - buried)])
        return buried
    }
}

extension Collected {
    mutating func add(_ other: Self) {
        receipts += other.receipts
        cursors += other.cursors
        sessions += other.sessions
        principals += other.principals
        undos += other.undos
        siblings += other.siblings
        chunks += other.chunks
        notes += other.notes
        journals += other.journals
    }
}
