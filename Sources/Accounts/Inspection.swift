// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

/// Lists what is in the state, for operators, the status page and metrics; changes nothing.
package struct Inspection: Sendable {
    let accounts: Accounts

    var index: PrincipalIndex { accounts.index }
    var store: any ByteStore { accounts.store }

    /// Returns replicas, all or one principal's, in the order of their numbers, beginning with the one that follows
    /// `after`.
    package func replicas(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow] {
        try await describe(rows(.replica, of: principal, after: after?.rawValue ?? 0, limit: limit))
    }

    /// Returns replicas, all or one principal's, most recently seen first, beginning with the one that follows `after`.
    ///
    /// All of them are in the order of the hours in which they were seen, and within an hour of their numbers.
    package func replicasByContact(of principal: Principal?, after: ReplicaID?, limit: Int) async throws -> [ReplicaRow]
    {
        if let wanted = try await index.principals(behind: principal) {
            let rows = try await store.load(wanted.map { .all(.replica, of: $0.owner) }).joined()
            let sorted = try await describe(rows).sorted {
                ($0.lastSeen, $0.id.rawValue) > ($1.lastSeen, $1.id.rawValue)
            }
            guard let after else { return Array(sorted.prefix(page(limit))) }
            return Array(sorted.drop { $0.id != after }.dropFirst().prefix(page(limit)))
        }
        var mark: Lookup.Mark?
        if let after {
            let row = try await store.rows(.named(.replica, after.rawValue)).first
            mark = Lookup.Mark(row?.rank ?? .min, tie: after.rawValue)
        }
        return try await describe(
            store.rows(.all(.replica, by: .rank, after: mark, limit: page(limit), descending: true)))
    }

    private func describe(_ rows: some Sequence<ByteRow>) async throws -> [ReplicaRow] {
        let rows = Array(rows)
        let names = try await index.principals(of: Set(rows.map(\.key.owner)))
        let heads = try await heads(rows, of: names)
        return zip(rows, heads).map { row, head in
            let principal = names.named(row.key.owner)
            guard let head else { return ReplicaRow(damaged: row, of: principal) }
            return ReplicaRules.describe(head, of: principal, cursorLead: accounts.cursorLead)
        }
    }

    /// Returns the heads in rows with their pages; nil for those that are damaged.
    private func heads(_ rows: [ByteRow], of names: [Int64: Principal]) async throws -> [ReplicaHead?] {
        var heads = rows.map { try? ReplicaHead(decoding: $0.bytes) }
        let paged = heads.indices.filter { heads[$0]?.pagesLookup(0) != nil }
        let pages = try await store.load(paged.compactMap { heads[$0]?.pagesLookup(rows[$0].key.owner) })
        var torn: Set<Int> = []
        for (index, rows) in zip(paged, pages) where (try? heads[index]?.take(pages: rows)) != true {
            torn.insert(index)
        }
        for index in heads.indices {
            guard torn.contains(index) else {
                heads[index] = heads[index].map { accounts.withDeferred($0, of: rows[index].key.owner) }
                continue
            }
            // The pages are of another moment than the head, or damaged.
            guard let principal = names[rows[index].key.owner] else {
                heads[index] = nil
                continue
            }
            let id = ReplicaID(rawValue: rows[index].number)
            let (found, isDamaged) = try await accounts.read(principal) { (try $0.replica(id), try $0.isDamaged(id)) }
            // One that has been forgotten meanwhile is listed as it was read.
            if found != nil || isDamaged { heads[index] = found }
        }
        return heads
    }

    /// Returns the schema versions of the replicas that were seen last, and how many have each, the newest first.
    package func schemaVersions(ofLast limit: Int) async throws -> [(version: Int?, devices: Int)] {
        let rows = try await store.rows(.all(.replica, by: .rank, after: nil, limit: page(limit), descending: true))
        let seen = rows.compactMap { try? ReplicaHead(decoding: $0.bytes) }
        return Dictionary(grouping: seen) { $0.schemaVersion ?? $0.pushedVersion }
            .map { (version: $0.key, devices: $0.value.count) }
            .sorted { $0.version ?? -1 > $1.version ?? -1 }
    }

    /// Returns the principals whose digests begin with these hexadecimal digits, in the order of their digests.
    package func principals(beginningWith digits: String, limit: Int) async throws -> [Principal] {
        let digits = try key(digits, "principal")
        guard let owners = Principal.owners(beginningWith: digits) else { return [] }
        let found = try await store.rows(.principals(owners, limit: page(limit)))
            .map(Principal.init(head:))
        let scoped = try await index.principals(of: scopes(ofFirst: page(limit), in: owners)).values.map(\.user)
        // The head of a user's scope has all digits of the user.
        let all = Dictionary((scoped + found).map { ($0.owner, $0) }) { first, _ in first }.values
            .filter { principal in
                let isDamaged = principal == Principal(damaged: principal.owner)
                return principal.rawValue.hasPrefix(digits) || isDamaged && digits.hasPrefix(principal.rawValue)
            }
        return Array(all.sorted { $0.rawValue < $1.rawValue }.prefix(page(limit)))
    }

    /// Checks that the row that each sync reads can be read: no device could sync without it.
    package func checkEpochs() async throws {
        for row in try await store.rows(.row(StateEpochs.key)) where (try? StateEpochs(decoding: row.bytes)) == nil {
            throw StateError.corrupt("the row 'epochs' cannot be read")
        }
    }

    /// Reads every value and chunk, and returns how many do not fit their checksums, by the name of their table;
    /// `isChunk` tells whether bytes that are no directory are a chunk of a ledger.
    package func damage(isChunk: ([UInt8]) -> Bool) async throws -> [ByteTableName: Int] {
        var damaged: [ByteTableName: Int] = [:]
        for table in ByteTableName.allCases {
            var last: RowKey?
            repeat {
                let rows = try await store.page(of: table, after: last, limit: table.pageSize)
                let count = rows.count { row in
                    if table == .chunk { return !Coder.isIntact(row.bytes) && !isChunk(row.bytes) }
                    let isCoded = row.key.kind.isCoded || row.key.kind == .meta && !row.bytes.isEmpty
                    return isCoded && !Coder.isIntact(row.bytes)
                }
                if count > 0 { damaged[table, default: 0] += count }
                last = rows.count < table.pageSize ? nil : rows.last?.key
            } while last != nil
        }
        return damaged
    }

    /// Returns the owners of scopes, at least one of each of the first users.
    private func scopes(ofFirst limit: Int, in owners: ClosedRange<Int64>) async throws -> Set<Int64> {
        var (scopes, users): (Set<Int64>, Set<Int64>) = ([], [])
        var mark: Lookup.Mark? = Lookup.Mark(owners.lowerBound, tie: .min)
        while let start = mark, users.count < limit {
            let rows = try await store.rows(.all(.scope, by: .number, after: start, limit: limit, descending: false))
            for row in rows where owners.contains(row.number) {
                users.insert(row.number)
                scopes.insert(Int64(keyBytes: row.key.key))
            }
            // Further scopes of the last user are passed over.
            mark = rows.count < limit ? nil : rows.last.map { Lookup.Mark($0.number, tie: .max) }
            if let next = mark, next.value >= owners.upperBound { mark = nil }
        }
        return scopes
    }

    /// Returns the stuck devices that have tried since a moment, those that tried last first.
    ///
    /// Of first syncs that never come back and were counted together, only the newest is returned, and none if a newer
    /// replica of the same session has begun: then that is the device.
    package func stuckDevices(by rule: StuckRule, since: Instant, limit: Int) async throws -> [DeviceTrouble] {
        var (stuck, mark): ([DeviceTrouble], Lookup.Mark?) = ([], nil)
        repeat {
            let rows = try await store.rows(
                .all(.trouble, by: .number, after: mark, limit: 10_000, descending: true))
            let tried = rows.prefix { $0.number >= since.milliseconds }
            mark = tried.count < 10_000 ? nil : rows.last.map { Lookup.Mark($0.number, tie: $0.rank) }
            let names = try await index.principals(of: Set(tried.map(\.key.owner)))
            let met = tried.compactMap { row in
                names[row.key.owner].flatMap { TroubleRules.trouble(row, of: $0) }
            }.filter(rule.isMet)
            stuck += met.filter { $0.kind != .firstSync }
            for (principal, first) in Dictionary(grouping: met.filter { $0.kind == .firstSync }, by: \.principal) {
                let superseded = try await accounts.read(principal) { try TroubleRules.superseded(first, in: &$0) }
                stuck += first.filter { !superseded.contains($0.replica) }
            }
        } while mark != nil && stuck.count < limit
        let sorted = stuck.sorted {
            ($1.lastAt, $0.replica.rawValue, $0.kind.rawValue) < ($0.lastAt, $1.replica.rawValue, $1.kind.rawValue)
        }
        return Array(sorted.prefix(page(limit)))
    }
}
