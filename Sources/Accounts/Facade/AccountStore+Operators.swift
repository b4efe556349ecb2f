// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension AccountStore: InspectableStore {
    package func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow] {
        let after = after?.rawValue ?? 0
        if let wanted = try await principals(behind: principal) {
            let rows = try await store.load(wanted.map { .all(.replica, of: $0.owner) }).joined()
            return try await describe(rows.filter { $0.number > after }.sorted { $0.number < $1.number }, limit)
        }
        let mark = Lookup.Mark(after, tie: .max)
        let rows = try await store.load([
            .all(.replica, by: .number, after: mark, limit: page(limit), descending: false)
        ])[0]
        return try await describe(rows, limit)
    }

    package func replicasByContact(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow]
    {
        var mark: Lookup.Mark?
        if let after {
            let row = try await store.load([.named(.replica, after.rawValue)])[0].first
            mark = Lookup.Mark(row?.rank ?? .min, tie: after.rawValue)
        }
        if let wanted = try await principals(behind: principal) {
            let rows = try await store.load(wanted.map { .all(.replica, of: $0.owner) }).joined()
            let sorted = rows.map { (Lookup.Mark($0.rank, tie: $0.number), $0) }
                .filter { row in mark.map { row.0 < $0 } ?? true }.sorted { $1.0 < $0.0 }
            return try await describe(sorted.map(\.1), limit)
        }
        let rows = try await store.load([
            .all(.replica, by: .rank, after: mark, limit: page(limit), descending: true)
        ])[0]
        return try await describe(rows, limit)
    }

    private func describe(_ rows: some Sequence<ByteRow>, _ limit: Int) async throws -> [ReplicaRow] {
        let rows = rows.prefix(page(limit))
        let names = try await principals(of: Set(rows.map(\.key.owner)))
        return rows.compactMap { row in
            guard let principal = names[row.key.owner], let replica = try? ReplicaHead(decoding: row.bytes) else {
                return nil
            }
            return ReplicaRules.describe(replica, of: principal, cursorLead: cursorLead)
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
        let row = try await store.load([.row(MetaKey.newestCursor.row)])[0].first
        return row.flatMap { Cursor(rawValue: $0.number) }
    }

    package func distrust(
        because restored: RestoredBackup, of principal: Principal?, at now: Instant
    ) async throws -> Int {
        var count = 0
        try await forEachPrincipal(behind: principal) { principal in
            try await accounts.change(principal) {
                try SessionRules.distrust(because: restored, at: now, in: &$0)
            }
            count += 1
        }
        return count
    }

    /// Runs the body for a principal and its scopes, or for all principals.
    func forEachPrincipal(
        behind principal: Principal?, _ body: (Principal) async throws -> Void
    ) async throws {
        if let wanted = try await principals(behind: principal) {
            for principal in wanted { try await body(principal) }
            return
        }
        var next: Int64? = .min
        while let first = next {
            let rows = try await store.load([.principals(first...Int64.max, limit: 500)])[0]
            for row in rows { try await body(PrincipalHead(decoding: row.bytes).principal) }
            next = rows.last.flatMap { rows.count < 500 || $0.key.owner == .max ? nil : $0.key.owner + 1 }
        }
    }

    package func principals(beginningWith digits: String, limit: Int) async throws -> [Principal] {
        let digits = try key(digits, "principal")
        guard let owners = Principal.owners(beginningWith: digits) else { return [] }
        let found = try await store.load([.principals(owners, limit: page(limit))])[0]
            .map { try PrincipalHead(decoding: $0.bytes).principal }
        let users = try await store.load([.all(.scope, by: .number, after: nil, limit: .max, descending: false)])[0]
            .filter { owners.contains($0.key.owner) }.map { Int64(keyBytes: $0.key.key) }
        let scoped = try await principals(of: Set(users)).values.map(\.user)
        let all = Set(found + scoped).filter { $0.rawValue.hasPrefix(digits) }
        return Array(all.sorted { $0.rawValue < $1.rawValue }.prefix(page(limit)))
    }

    package func erase(_ principal: Principal) async throws -> [CopiedTable: Int] {
        var erased: [CopiedTable: Int] = [:]
        try await forEachPrincipal(behind: principal) { principal in
            let counts = try await accounts.change(principal) { try CollectionRules.erase(in: &$0) }
            for (kind, count) in counts where count > 0 {
                if let table = kind.table { erased[table, default: 0] += count }
            }
            guard counts[.principal] != nil else { return }
            let lines = try await quarantinedLines(of: principal, after: 0, limit: .max).map(\.id)
            let dropped = try await dropLines(lines).count
            if dropped > 0 { erased[.quarantine, default: 0] += dropped }
        }
        return erased
    }

    package func pushNote(of principal: Principal, table: String, id: String) async throws -> PushNote? {
        let record = PushedRecordKey(table: try key(table, "table"), id: id)
        return try await accounts.read(principal) { try NoteRules.note(of: record, in: &$0) }
    }

    package func cursors(of outline: LedgerOutline) async throws -> [LayerID: Cursor] {
        guard let principal = try await principal(of: outline.replica),
            let replica = try await accounts.read(principal, { try $0.replica(outline.replica) })
        else { return [:] }
        return outline.layers.reduce(into: [:]) { $0[$1] = replica.layer($1)?.cursor }
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
            let names = try await principals(of: Set(rows.map(\.key.owner)))
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
    /// The table that a copy has for rows of a kind.
    fileprivate var table: CopiedTable? {
        switch self {
        case .principal: .principal
        case .session: .session
        case .receipt: .receipt
        case .replica: .replica
        case .cursor: .cursor
        case .owed: .owed
        case .trouble: .deviceTrouble
        case .note: .pushNote
        case .mapping: .idMap
        case .refusal: .pushRefusal
        case .journal: .pushJournal
        case .operation: .pushFlight
        case .line: .quarantine
        case .push: .pushQuarantine
        case .chunk: .chunk
        case .scope, .staged, .loose, .meta, .pushBody, .backendID: nil
        }
    }
}
