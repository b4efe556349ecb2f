// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
import SyncModel

extension AccountStore {
    package func collect(_ wanted: Retention) async throws -> Collected {
        var collected = Collected()
        var retention = try await passTime(wanted, &collected)
        retention.cursorLead = cursorLead
        let (first, last) = (retention, retention)
        try await forEachPrincipal(behind: nil) { principal in
            try Task.checkCancellation()
            collected.add(try await accounts.change(principal) { try CollectionRules.collect(first, in: &$0) })
        }
        collected.chunks += try await collectStaged(before: retention.stagedBefore)
        collected.replicas = try await buryUnseen(retention)
        try await forEachPrincipal(behind: nil) { principal in
            try Task.checkCancellation()
            collected.add(try await accounts.change(principal) { try CollectionRules.finish(last, in: &$0) })
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

    private func passTime(_ wanted: Retention, _ collected: inout Collected) async throws -> Retention {
        let known = try await meta([.collectedAt, .leapt, .leaptAt])
        var time = CollectionTime(
            collectedAt: known[0].map(Instant.init(milliseconds:)), leapt: known[1] ?? 0,
            leaptAt: Instant(milliseconds: known[2] ?? 0))
        collected.leapt = time.pass(
            to: wanted.now, ran: wanted.ran, longest: wanted.now.milliseconds(since: wanted.seenBefore))
        try await set([
            .collectedAt: wanted.now.milliseconds, .leapt: time.leapt, .leaptAt: time.leaptAt.milliseconds,
        ])
        return time.corrected(wanted)
    }

    private func collectStaged(before: Instant) async throws -> Int {
        let rows = try await store.load([
            .all(.staged, by: .number, after: nil, limit: 500, descending: false)
        ])[0].filter { $0.number < before.milliseconds }
        guard !rows.isEmpty else { return 0 }
        var changes = RowChanges()
        for row in rows {
            changes.rows[row.key] = .some(nil)
            changes.freedChunks += try StagedChunks(decoding: row.bytes).chunks.map(\.number)
        }
        try await accounts.commit(changes)
        // The first row of a layer has no chunks and only its number.
        return changes.freedChunks.count + rows.count { $0.key.key.count == 8 }
    }

    /// Forgets replicas that were not seen for long, but only a share of all replicas in an hour.
    private func buryUnseen(_ retention: Retention) async throws -> Int {
        let known = try await meta([.replicas, .burialsSince, .burialsLeft])
        var (since, left) = (Instant(milliseconds: known[1] ?? 0), Int(known[2] ?? 0))
        let unseen = try await store.load([
            .all(.replica, by: .rank, after: nil, limit: 1_000, descending: false)
        ])[0].filter { $0.rank < retention.seenBefore.milliseconds }
        guard !unseen.isEmpty else { return 0 }
        if retention.now.milliseconds(since: since) >= CollectionTime.period || since > retention.now {
            (since, left) = (retention.now, max(1, Int(known[0] ?? 0) / CollectionTime.burialShare))
        }
        let names = try await principals(of: Set(unseen.map(\.key.owner)))
        var buried = 0
        for row in unseen.prefix(left) {
            guard let principal = names[row.key.owner] else { continue }
            let id = ReplicaID(rawValue: row.number)
            let isForgotten = try await accounts.change(principal) {
                try ReplicaRules.forget(id, at: retention.now, in: &$0)
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
