// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Deletes what is no longer needed, principal by principal.
///
/// Each collection goes on where the last one has ended, whichever gateway ran it, and looks through a share of a large
/// state: hourly collections come to every principal once a day.
struct StateCollector: Sendable {
    /// The number of collections after which every principal was looked at.
    private static let shares = 24
    /// The number of principals between two pauses.
    private static let stride = 100

    let accounts: Accounts
    let pause: @Sendable () async throws -> Void

    private var store: any ByteStore { accounts.store }

    private var index: PrincipalIndex { accounts.index }

    func collect(_ wanted: Retention) async throws -> Collected {
        var collected = Collected()
        var retention = try await passTime(wanted, &collected)
        retention.cursorLead = accounts.setting.cursorLead
        for kind in [RowKind.staged, .loose] {
            collected.chunks += try await collectChunks(namedBy: kind, before: retention.stagedBefore)
        }
        collected.replicas = try await forgetUnseen(retention)
        try await collectPrincipals(retention, &collected)
        return collected
    }

    private func collectPrincipals(_ retention: Retention, _ collected: inout Collected) async throws {
        let known = try await meta([.principals, .collectedTo])
        let start = known[1] ?? .min
        let share = max(accounts.setting.limits.collectPrincipals, Int(known[0] ?? 0) / Self.shares + 1)
        var (left, next, ends) = (share, start, 0)
        // The way leads once around: past the last owner, and on to where it began.
        while left > 0, ends == 0 || ends == 1 && next < start {
            let page = try await index.page(from: next, limit: min(left, Self.stride))
            for principal in page.principals {
                try Task.checkCancellation()
                do {
                    collected.add(try await collect(principal, retention))
                } catch StateError.busy {
                    // Its syncs come first.
                } catch let error as StateError where error.code == Coder.damage.code {
                    collected.note(error, of: principal)
                }
            }
            for owner in page.damaged { collected.note(PrincipalHead.damage(of: owner), of: Principal(damaged: owner)) }
            let count = page.principals.count + page.damaged.count
            left -= count
            next = page.next ?? .min
            if page.next == nil { ends += 1 }
            try await set([.collectedTo: next])
            if left > 0, count == Self.stride { try await pause() }
        }
    }

    private func collect(_ principal: Principal, _ retention: Retention) async throws -> Collected {
        let found = try await accounts.commands.changeReplicas(
            of: principal, keeps: false, from: NeededByReplicas()
        ) { replicas, isLast, needed, account in
            var found = try CollectionRules.collect(replicas, retention, leaving: &needed, in: &account)
            if isLast { found.add(try CollectionRules.collect(retention, leaving: needed, in: &account)) }
            return found
        }
        return found.results.reduce(into: Collected()) { $0.add($1) }
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
            let row = try await store.rows(.row(CollectionTime.key)).first
            let before = try row.map { try CollectionTime(decoding: $0.bytes) }
            var time = before ?? CollectionTime()
            // How long this process has run says nothing about the time since another gateway's collection.
            let ran = time.collector == accounts.process ? wanted.ran : nil
            time.collector = accounts.process
            collected.leapt = time.pass(
                to: wanted.now, ran: ran, longest: wanted.now.milliseconds(since: wanted.seenBefore))
            if time == before { return time.corrected(wanted) }
            if try await accounts.replace(row, at: CollectionTime.key, with: time) { return time.corrected(wanted) }
        }
    }

    /// Deletes chunks that rows of a kind name and that were written, or last used, before a time.
    private func collectChunks(namedBy kind: RowKind, before: Instant) async throws -> Int {
        var (count, passed): (Int, Int64?) = (0, nil)
        while true {
            try Task.checkCancellation()
            let rows = try await store.rows(.all(kind, after: passed, limit: 100)).prefix {
                $0.number < before.milliseconds
            }
            var (changes, found) = (RowChanges(), 0)
            for row in rows where changes.freedChunks.count < accounts.setting.limits.collectBatch {
                // One that is damaged stays, with its chunks.
                guard let chunks = try? Self.chunks(namedBy: row) else { continue }
                changes.expected[row.key] = row.version
                changes.rows[row.key] = .some(nil)
                changes.freedChunks += chunks
                found += chunks.count
                if kind == .loose { found += 1 }
                guard kind == .staged else { continue }
                // A commit that names the chunks comes first, or finds that the layer is gone: its first row, which has
                // no chunks and only its number, goes with any other.
                changes.rows[RowKey(.staged, of: 0, Array(row.key.key.prefix(8)))] = .some(nil)
                if row.key.key.count == 8 { found += 1 }
            }
            if changes.isEmpty, let last = rows.last {
                passed = last.number
                continue
            }
            guard !changes.isEmpty, try await accounts.isMade(changes) else { return count }
            accounts.chunks.take(changes)
            count += found
        }
    }

    private static func chunks(namedBy row: ByteRow) throws -> [Int64] {
        row.key.kind == .loose
            ? try [Int64](decoding: row.bytes) : try StagedChunks(decoding: row.bytes).chunks.map(\.number)
    }

    /// Forgets replicas that were not seen for long, but only a share of all replicas in an hour.
    ///
    /// Those that cannot be forgotten, because something of theirs is damaged, do not keep the others.
    private func forgetUnseen(_ retention: Retention) async throws -> Int {
        var (total, mark): (Int, Lookup.Mark?) = (0, nil)
        repeat {
            try Task.checkCancellation()
            let (forgotten, next) = try await forgetBatch(retention, after: mark)
            (total, mark) = (total + forgotten, next)
        } while mark != nil
        return total
    }

    private func forgetBatch(
        _ retention: Retention, after mark: Lookup.Mark?
    ) async throws -> (forgotten: Int, next: Lookup.Mark?) {
        let known = try await meta([.replicas, .forgettingSince, .forgettingLeft])
        var (since, left) = (Instant(milliseconds: known[1] ?? 0), Int(known[2] ?? 0))
        let limit = max(1, accounts.setting.limits.collectBatch)
        let rows = try await store.rows(.all(.replica, by: .rank, after: mark, limit: limit, descending: false))
        let unseen = rows.filter { row in
            // The rank is the hour.
            row.rank < retention.seenBefore.hour
                || (try? ReplicaHead(decoding: row.bytes)).map { $0.lastSeen < retention.seenBefore } ?? false
        }
        guard !unseen.isEmpty else { return (0, nil) }
        if retention.now.milliseconds(since: since) >= CollectionTime.period || since > retention.now {
            (since, left) = (retention.now, max(1, Int(known[0] ?? 0) / CollectionTime.forgettingShare))
        }
        let names = try await index.principals(of: Set(unseen.map(\.key.owner)))
        var forgotten = 0
        for row in unseen where forgotten < left {
            // A head whose principal cannot be read stays.
            guard let principal = names[row.key.owner] else { continue }
            if try await forget(row, of: principal, retention) { forgotten += 1 }
        }
        try await set([.forgettingSince: since.milliseconds, .forgettingLeft: Int64(left - forgotten)])
        let isEnd = rows.count < limit || unseen.count < rows.count || forgotten == left
        return (forgotten, isEnd ? nil : rows.last.map { Lookup.Mark($0.rank, tie: $0.number) })
    }

    /// Forgets a replica, unless it has come back meanwhile.
    private func forget(_ row: ByteRow, of principal: Principal, _ retention: Retention) async throws -> Bool {
        let id = ReplicaID(rawValue: row.number)
        do {
            return try await accounts.change(principal, keeps: false) { account in
                if let replica = try account.replica(id), replica.lastSeen >= retention.seenBefore { return false }
                return try ReplicaRules.forget(id, at: retention.now, in: &account)
            }
        } catch StateError.corrupt {
            return false
        }
    }
}

extension Collected {
    mutating func add(_ other: Self) {
        for part in [
            \Self.receipts, \.cursors, \.sessions, \.principals, \.undos, \.siblings, \.chunks, \.notes, \.journals,
        ] {
            self[keyPath: part] += other[keyPath: part]
        }
    }
}
