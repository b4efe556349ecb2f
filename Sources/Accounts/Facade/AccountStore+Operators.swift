// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension AccountStore: InspectableStore {
    package func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow] {
        let after = after?.rawValue ?? 0
        if let wanted = try await index.principals(behind: principal) {
            let rows = try await store.load(wanted.map { .all(.replica, of: $0.owner) }).joined()
            return try await describe(
                rows.filter { $0.number > after }.sorted { $0.number < $1.number }, page(limit))
        }
        let mark = Lookup.Mark(after, tie: .max)
        let rows = try await store.load([
            .all(.replica, by: .number, after: mark, limit: page(limit), descending: false)
        ])[0]
        return try await describe(rows, page(limit))
    }

    package func replicasByContact(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow]
    {
        if let wanted = try await index.principals(behind: principal) {
            let rows = try await store.load(wanted.map { .all(.replica, of: $0.owner) }).joined()
            let sorted = try await describe(rows, .max).sorted {
                ($0.lastSeen, $0.id.rawValue) > ($1.lastSeen, $1.id.rawValue)
            }
            guard let after else { return Array(sorted.prefix(page(limit))) }
            return Array(sorted.drop { $0.id != after }.dropFirst().prefix(page(limit)))
        }
        var mark: Lookup.Mark?
        if let after {
            let row = try await store.load([.named(.replica, after.rawValue)])[0].first
            mark = Lookup.Mark(row?.rank ?? .min, tie: after.rawValue)
        }
        let rows = try await store.load([
            .all(.replica, by: .rank, after: mark, limit: page(limit), descending: true)
        ])[0]
        return try await describe(rows, page(limit))
    }

    private func describe(_ rows: some Sequence<ByteRow>, _ limit: Int) async throws -> [ReplicaRow] {
        let rows = rows.prefix(limit)
        let names = try await index.principals(of: Set(rows.map(\.key.owner)))
        return try await heads(rows).compactMap { owner, replica in
            guard let principal = names[owner] else { return nil }
            return ReplicaRules.describe(replica, of: principal, cursorLead: cursorLead)
        }
    }

    /// Returns the heads in rows with their pages, without those that are damaged or change just now.
    private func heads(_ rows: some Sequence<ByteRow>) async throws -> [(owner: Int64, replica: ReplicaHead)] {
        var heads = rows.compactMap { row in
            (try? ReplicaHead(decoding: row.bytes)).map { (owner: row.key.owner, replica: $0) }
        }
        let paged = heads.indices.filter { !heads[$0].replica.pages.isEmpty }
        let pages = try await store.load(
            paged.map { .all(.recent, of: heads[$0].owner, prefix: heads[$0].replica.id.rawValue.keyBytes) })
        var torn: Set<Int> = []
        for (index, rows) in zip(paged, pages) where (try? heads[index].replica.take(pages: rows)) != true {
            torn.insert(index)
        }
        return heads.indices.filter { !torn.contains($0) }.map { index in
            (heads[index].owner, accounts.withDeferred(heads[index].replica, of: heads[index].owner))
        }
    }

    package func schemaVersions(ofLast limit: Int) async throws -> [SchemaVersionCount] {
        let rows = try await store.load([
            .all(.replica, by: .rank, after: nil, limit: page(limit), descending: true)
        ])[0]
        let seen = rows.compactMap { try? ReplicaHead(decoding: $0.bytes) }
        return Dictionary(grouping: seen) { $0.schemaVersion ?? $0.pushedVersion }
            .map { SchemaVersionCount(version: $0.key, devices: $0.value.count) }
            .sorted { $0.version ?? -1 > $1.version ?? -1 }
    }

    package func newestCursor() async throws -> Cursor? {
        let rows = try await store.load([.newestCursor, .row(MetaKey.newestCursor.row)]).joined()
        return rows.map(\.number).max().flatMap { Cursor(rawValue: $0) }
    }

    package func distrust(
        because restored: RestoredBackup, of principal: Principal?, at now: Instant
    ) async throws -> Int {
        guard principal != nil else { return try await distrustAll(because: restored, at: now) }
        var count = 0
        try await index.forEachPrincipal(behind: principal) { principal in
            try await accounts.change(principal) {
                try SessionRules.distrust(because: restored, at: now, in: &$0)
            }
            count += 1
        }
        return count
    }

    /// Distrusts what all devices have got so far: one row, which is compared whenever a principal is read.
    private func distrustAll(because restored: RestoredBackup, at now: Instant) async throws -> Int {
        while true {
            let newest = try await newestCursor()?.time ?? 0
            let rows = try await store.load([StateEpochs.key, MetaKey.principals.row].map(Lookup.row))
            var epochs = try rows[0].first.map { try StateEpochs(decoding: $0.bytes) } ?? StateEpochs()
            epochs.distrust(because: restored, until: max(now + cursorLead, newest))
            var changes = RowChanges()
            changes.expected[StateEpochs.key] = rows[0].first?.version ?? 0
            changes.rows[StateEpochs.key] = ByteRow(
                key: StateEpochs.key, version: accounts.nextVersion(), bytes: try epochs.encoded())
            guard try await accounts.isMade(changes) else { continue }
            accounts.forgetAll()
            return Int(rows[1].first?.number ?? 0)
        }
    }

    package func principals(beginningWith digits: String, limit: Int) async throws -> [Principal] {
        let digits = try key(digits, "principal")
        guard let owners = Principal.owners(beginningWith: digits) else { return [] }
        let found = try await store.load([.principals(owners, limit: page(limit))])[0]
            .compactMap { (try? PrincipalHead(decoding: $0.bytes))?.principal }
        let users = try await store.load([.all(.scope, by: .number, after: nil, limit: .max, descending: false)])[0]
            .filter { owners.contains($0.key.owner) }.map { Int64(keyBytes: $0.key.key) }
        let scoped = try await index.principals(of: Set(users)).values.map(\.user)
        let all = Set(found + scoped).filter { $0.rawValue.hasPrefix(digits) }
        return Array(all.sorted { $0.rawValue < $1.rawValue }.prefix(page(limit)))
    }

    package func erase(_ principal: Principal) async throws -> [String: Int] {
        var erased: [String: Int] = [:]
        try await index.forEachPrincipal(behind: principal) { principal in
            let counts = try await accounts.change(principal) { try CollectionRules.erase(in: &$0) }
            for (kind, count) in counts where count > 0 {
                if let name = kind.name { erased[name, default: 0] += count }
            }
            guard counts[.principal] != nil else { return }
            let lines = try await quarantinedLines(of: principal, after: 0, limit: .max).map(\.id)
            let dropped = try await dropLines(lines).count
            if dropped > 0 { erased["quarantine", default: 0] += dropped }
        }
        return erased
    }

    package func pushNote(of principal: Principal, table: String, id: String) async throws -> PushNote? {
        let record = PushedRecordKey(table: try key(table, "table"), id: id)
        return try await accounts.read(principal) { try NoteRules.note(of: record, in: &$0) }
    }

    package func cursors(of outline: LedgerOutline) async throws -> [LayerID: Cursor] {
        try outline.layers.reduce(into: [:]) { $0[$1] = try layers[$1]?.cursor }
    }
}

extension AccountStore: TroubleStore {
    package func noteTrouble(
        _ kind: DeviceTrouble.Kind, code: String, count: Int, since: Instant, of replica: ReplicaID, at now: Instant
    ) async throws -> (before: DeviceTrouble?, after: DeviceTrouble)? {
        guard let principal = try await principal(of: replica) else { return nil }
        let trouble = DeviceTrouble(
            replica: replica, principal: principal, kind: kind, count: count, since: since, lastAt: now, code: code)
        return try await accounts.change(principal) { try TroubleRules.note(trouble, in: &$0) }
    }

    package func endTroubles(_ kinds: Set<DeviceTrouble.Kind>, of replica: ReplicaID) async throws -> [DeviceTrouble] {
        try await change(replica) { try TroubleRules.end(kinds, of: replica, in: &$0) } ?? []
    }

    package func stuckDevices(by rule: StuckRule, since: Instant, limit: Int) async throws -> [DeviceTrouble] {
        var (stuck, mark): ([DeviceTrouble], Lookup.Mark?) = ([], nil)
        repeat {
            let rows = try await store.load([
                .all(.trouble, by: .number, after: mark, limit: 10_000, descending: true)
            ])[0]
            mark = rows.count < 10_000 ? nil : rows.last.map { Lookup.Mark($0.number, tie: $0.rank) }
            let names = try await index.principals(of: Set(rows.map(\.key.owner)))
            for row in rows {
                guard row.number >= since.milliseconds else { mark = nil; break }
                guard let principal = names[row.key.owner], let trouble = try TroubleRules.trouble(row, of: principal),
                    rule.isMet(by: trouble),
                    try await !accounts.read(principal, { try TroubleRules.isSuperseded(trouble, in: &$0) })
                else { continue }
                stuck.append(trouble)
            }
        } while mark != nil && stuck.count < limit
        let sorted = stuck.sorted {
            ($1.lastAt, $0.replica.rawValue, $0.kind.rawValue) < ($0.lastAt, $1.replica.rawValue, $1.kind.rawValue)
        }
        return Array(sorted.prefix(page(limit)))
    }
}

extension RowKind {
    /// The name by which a report of erased rows counts a kind; nil for those that only help to find others.
    fileprivate var name: String? {
        switch self {
        case .principal: "principal"
        case .session: "session"
        case .receipt: "receipt"
        case .replica: "replica"
        case .cursor: "cursor"
        case .owed: "owed"
        case .trouble: "device_trouble"
        case .note: "push_note"
        case .mapping: "id_map"
        case .refusal: "push_refusal"
        case .journal: "push_journal"
        case .operation: "push_flight"
        case .line: "quarantine"
        case .push: "push_quarantine"
        case .chunk: "chunk"
        case .scope, .staged, .loose, .meta, .pushBody, .backendID, .recent, .older, .move: nil
        }
    }
}
