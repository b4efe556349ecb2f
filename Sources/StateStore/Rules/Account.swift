// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The state of one principal, as far as a rule has asked for it, and the rule's changes.
///
/// A rule is a function of an account. It asks for rows as if all were there; if one is not, ``Missing`` is thrown, the
/// row is loaded, and the rule runs again from the beginning. So a rule waits for nothing, and what it sees is of one
/// moment: its changes are committed only if no head that it has read has changed meanwhile.
package struct Account {
    /// The principal.
    package let principal: Principal
    /// The number under which its rows are.
    package let owner: Int64
    /// The values that hold for all principals.
    package let setting: AccountSetting
    private(set) var view: AccountView
    var changes = RowChanges()
    private var read: Set<RowKey> = []
    private var changedReplicas: Set<ReplicaID> = []
    /// Returns the changes of a replica that were not stored yet when the rule began; nil if there are none at all.
    private let deferred: ((ReplicaID) -> [DeferredChange]?)?
    /// Those that the rule has made since.
    private var deferredHere: [ReplicaID: [DeferredChange]] = [:]
    /// The heads as they are stored of the replicas that these changes have changed.
    private var stored: [ReplicaID: ReplicaHead] = [:]
    private var changesHead = false

    /// Creates an account of what is known.
    package init(
        _ principal: Principal, setting: AccountSetting, view: AccountView,
        deferred: ((ReplicaID) -> [DeferredChange]?)? = nil
    ) throws(StateError) {
        self.deferred = deferred
        self.principal = Principal(rawValue: try key(principal.rawValue, "principal"), origin: principal.origin)
        self.setting = setting
        self.view = view
        owner = principal.owner
    }

    /// Asks for rows; all that are missing are named at once.
    mutating func need(_ lookups: [Lookup]) throws {
        let missing = lookups.filter { !view.knows($0) }
        if !missing.isEmpty { throw Missing(lookups: missing) }
    }

    /// Returns the rows of a lookup, as they were before the rule began.
    mutating func rows(_ lookup: Lookup) throws -> [ByteRow] {
        guard let rows = view.answers[lookup] else { throw Missing(lookups: [lookup]) }
        return rows
    }

    /// Returns the head; nil if the state does not know the principal.
    package mutating func head() throws -> PrincipalHead? {
        let key = RowKey(.principal, of: owner)
        guard let head = view.head else { throw Missing(lookups: [.row(key)]) }
        read.insert(key)
        guard let value = head.value, value.principal == principal else {
            if head.value?.principal == Principal(damaged: owner) { throw PrincipalHead.damage(of: owner) }
            if head.value != nil { throw StateError.failed("two principals have the same number") }
            return nil
        }
        return value
    }

    /// Changes the head, and adds it first if the state does not know the principal.
    mutating func withHead<T>(at now: Instant, _ body: (inout PrincipalHead) throws -> T) throws -> T {
        var head = try head() ?? makeHead(at: now)
        let result = try body(&head)
        if head != view.head?.value { changesHead = true }
        view.head?.value = head
        return result
    }

    /// Changes the head if the state knows the principal.
    mutating func withKnownHead(_ body: (inout PrincipalHead) throws -> Void) throws {
        if let head = try head() { try withHead(at: head.lastSeen, body) }
    }

    private mutating func makeHead(at now: Instant) -> PrincipalHead {
        if principal.origin != nil {
            let key = RowKey(.scope, of: principal.user.owner, owner.keyBytes)
            put(ByteRow(key: key, number: key.owner))
        }
        changes.increments[MetaKey.principals.row, default: 0] += 1
        return PrincipalHead(principal, at: now)
    }

    mutating func removeHead() throws {
        guard try head() != nil else { return }
        view.head?.value = nil
        changesHead = true
        if principal.origin != nil {
            changes.rows[RowKey(.scope, of: principal.user.owner, owner.keyBytes)] = .some(nil)
        }
        changes.increments[MetaKey.principals.row, default: 0] -= 1
    }

    /// Returns a replica; nil if the principal has none of this number.
    package mutating func replica(_ id: ReplicaID) throws -> ReplicaHead? {
        let key = RowKey(.replica, of: owner, number: id.rawValue)
        guard let head = view.replicas[id] else { throw view.missing(of: id, owner) }
        read.insert(key)
        let isAsStored = stored[id] == nil && !changedReplicas.contains(id)
        guard isAsStored, let changes = deferred?(id), let value = head.value else { return head.value }
        stored[id] = value
        view.replicas[id]?.value = value.applying(changes)
        return view.replicas[id]?.value
    }

    /// Takes over a replica that a deferred change has changed.
    mutating func keepChanged(_ replica: ReplicaHead, by change: DeferredChange) {
        if stored[replica.id] == nil { stored[replica.id] = view.replicas[replica.id]?.value }
        view.replicas[replica.id]?.value = replica
        deferredHere[replica.id, default: []].append(change)
    }

    /// Stores what was deferred of replicas.
    package mutating func storeDeferred(of ids: [ReplicaID]) throws {
        try need(ids)
        for id in ids {
            let replica = try replica(id)
            if let known = stored[id], replica != known { changedReplicas.insert(id) }
        }
        needNotBeDurable()
    }

    /// Asks for replicas and the pages of their heads; all that are missing are named at once.
    private func need(_ ids: [ReplicaID]) throws {
        let missing = ids.filter { view.replicas[$0] == nil }.flatMap { view.missing(of: $0, owner).lookups }
        if !missing.isEmpty { throw Missing(lookups: missing) }
    }

    /// Returns true if the store has no row of a lookup, or nothing is known of it at the first try.
    mutating func isFree(_ lookup: Lookup) throws -> Bool {
        if setting.assumesFree, !view.knows(lookup) { return true }
        return try rows(lookup).isEmpty
    }

    /// Takes a new replica's number for a free one if nothing is known of it at the first try.
    mutating func assumeNone(_ id: ReplicaID) {
        let key = RowKey(.replica, of: owner, number: id.rawValue)
        if setting.assumesFree, !view.knows(.row(key)) { view.replicas[id] = AccountView.Versioned(nil, version: 0) }
    }

    /// The newest cursor of the replicas that are at hand: a clock that is a little behind it is waited for.
    var newestKnown: Cursor? { view.replicas.values.compactMap { $0.value?.newest }.max() }

    /// Returns the replicas in the order of their numbers, without damaged ones: those that follow a number, and the
    /// number to go on after; nil at the end.
    package mutating func replicas(
        after number: Int64, limit: Int
    ) throws -> (replicas: [ReplicaHead], next: Int64?) {
        let rows = try rows(.numbered(.replica, of: owner, after: number, limit: limit, descending: false))
        let ids = rows.map { ReplicaID(rawValue: $0.number) }
        try need(ids)
        return (try ids.compactMap { try replica($0) }, rows.count < limit ? nil : rows.last?.number)
    }

    /// Returns all replicas; for rules that change nothing, since a login may be that of thousands of devices.
    package mutating func allReplicas() throws -> [ReplicaHead] {
        try replicas(after: .min, limit: .max).replicas
    }

    /// Changes a replica; does nothing if there is none.
    mutating func withReplica(_ id: ReplicaID, _ body: (inout ReplicaHead) throws -> Void) throws {
        guard var replica = try replica(id) else { return }
        try body(&replica)
        try put(replica)
    }

    /// Writes a replica, which may be new.
    mutating func put(_ replica: ReplicaHead) throws {
        if try self.replica(replica.id) == replica { return }
        view.replicas[replica.id]?.value = replica
        changedReplicas.insert(replica.id)
    }

    /// Returns true if a replica is there, and its head cannot be read.
    package mutating func isDamaged(_ id: ReplicaID) throws -> Bool {
        try replica(id) == nil && view.replicas[id]?.version != 0 && !changedReplicas.contains(id)
    }

    mutating func removeHead(of id: ReplicaID) throws {
        guard try replica(id) != nil || isDamaged(id) else { return }
        view.replicas[id]?.value = nil
        changedReplicas.insert(id)
    }
}

extension Account {
    /// Returns the value of a row, as the rule has left it; nil if there is no row.
    mutating func value<V: Coded>(_ key: RowKey, as _: V.Type = V.self) throws -> (row: ByteRow, value: V)? {
        try row(key).map { ($0, try V(decoding: $0.bytes)) }
    }

    /// Returns a row, as the rule has left it; nil if there is none.
    mutating func row(_ key: RowKey) throws -> ByteRow? { try changes.rows[key] ?? rows(.row(key)).first }

    /// Returns the rows of a kind whose keys begin with a prefix, as the rule has left them.
    mutating func rows(_ kind: RowKind, prefix: [UInt8] = []) throws -> [ByteRow] {
        let known = try rows(.all(kind, of: owner, prefix: prefix))
        let changed = changes.rows.filter {
            $0.key.kind == kind && $0.key.owner == owner && $0.key.key.starts(with: prefix)
        }
        guard !changed.isEmpty else { return known }
        return (known.filter { changed[$0.key] == nil } + changed.values.compactMap(\.self)).sorted { $0.key < $1.key }
    }

    mutating func put(
        _ value: some Coded, at key: RowKey, version: Int64 = 0, number: Int64 = 0, rank: Int64 = 0
    ) throws {
        let bytes = try value.encoded()
        changes.rows[key] = ByteRow(key: key, version: version, number: number, rank: rank, bytes: bytes)
    }

    /// Writes a row that has no value, only numbers.
    mutating func put(_ row: ByteRow) { changes.rows[row.key] = row }

    mutating func delete(_ key: RowKey) { changes.rows[key] = .some(nil) }

    mutating func increment(_ key: MetaKey, by amount: Int64) { changes.increments[key.row, default: 0] += amount }

    /// Lets a number of the whole state not be less than another.
    mutating func raise(_ key: MetaKey, to number: Int64) {
        changes.floors[key.row] = max(changes.floors[key.row] ?? number, number)
    }

    /// Lets these changes be lost if the process is killed before the next durable commit.
    mutating func needNotBeDurable() { changes.isDurable = false }

    /// Returns the next number that nothing else has, for chunks and layers.
    func nextNumber(at now: Instant) -> Int64 { setting.number(now) }

    /// Returns numbers of a kind of rows that operators know by them; they were never given before.
    mutating func numbers(of kind: RowKind, count: Int) throws -> [Int64] {
        guard count > 0 else { return [] }
        let reserved = view.numbers[kind] ?? []
        guard reserved.count >= count else { throw Missing(numbers: [kind: count - reserved.count]) }
        view.numbers[kind] = Array(reserved.dropFirst(count))
        raise(.numbers(of: kind), to: reserved[count - 1])
        return Array(reserved.prefix(count))
    }

    /// Returns what holds since backups were restored; changes made under it are refused once it has changed.
    mutating func epochs() throws -> StateEpochs {
        guard let epochs = view.epochs else { throw Missing(lookups: [.row(StateEpochs.key)]) }
        read.insert(StateEpochs.key)
        return epochs.value ?? StateEpochs()
    }

    /// Lets the changes be refused if a row is not there any more.
    mutating func expect(_ row: ByteRow) { changes.expected[row.key] = row.version }

    /// Returns a row that has versions; the rule runs again if another change of it comes first.
    mutating func versioned<V: Coded>(_ key: RowKey, as type: V.Type = V.self) throws -> (row: ByteRow, value: V)? {
        let found = try value(key, as: type)
        if changes.expected[key] == nil { changes.expected[key] = found?.row.version ?? 0 }
        return found
    }

    /// Returns what is to be committed, under new versions.
    package mutating func finish(version: () -> Int64) throws -> FinishedAccount {
        let unchanged = stored.filter { view.replicas[$0.key]?.value == $0.value }.keys
        for (id, head) in stored where !changedReplicas.contains(id) { view.replicas[id]?.value = head }
        if changesHead { try writeHead(version: version()) }
        for id in changedReplicas.sorted(by: { $0.rawValue < $1.rawValue }) {
            try writeHead(of: id, version: version())
        }
        // The heads have their new versions already.
        for (key, row) in changes.rows where row?.version == 0 && changes.expected[key] != nil {
            changes.rows[key]??.version = version()
        }
        for key in read where changes.expected[key] == nil { changes.expected[key] = view.version(of: key) }
        // Nothing is to be stored of a replica that is gone.
        let gone = view.replicas.filter { $1.value == nil && deferred?($0) != nil }.keys
        return FinishedAccount(
            changes: changes, view: view.after(changes, owner: owner),
            deferred: deferredHere.filter { !changedReplicas.contains($0.key) },
            stored: changedReplicas.union(gone).union(unchanged))
    }

    private mutating func writeHead(version: Int64) throws {
        let (key, head) = (RowKey(.principal, of: owner), view.head?.value)
        changes.expected[key] = view.head?.version ?? 0
        view.head?.version = head == nil ? 0 : version
        let row = try head.map {
            ByteRow(key: key, version: version, rank: $0.lastSeen.day, bytes: try $0.encoded())
        }
        changes.rows.updateValue(row, forKey: key)
    }

    /// Writes the head of a replica and the pages that it has no room for.
    private mutating func writeHead(of id: ReplicaID, version: Int64) throws {
        let key = RowKey(.replica, of: owner, number: id.rawValue)
        changes.expected[key] = view.replicas[id]?.version ?? 0
        guard var replica = view.replicas[id]?.value else {
            view.replicas[id]?.version = 0
            changes.rows[key] = .some(nil)
            return
        }
        let now = replica.lastSeen
        let (pages, bytes) = try replica.makePages(of: owner, limits: setting.limits) { nextNumber(at: now) }
        changes.rows.merge(pages) { $1 }
        view.replicas[id] = AccountView.Versioned(replica, version: version, size: bytes.count)
        changes.rows[key] = ByteRow(
            key: key, version: version, number: id.rawValue, rank: replica.lastSeen.hour, bytes: bytes)
    }
}

extension Instant {
    var day: Int64 { milliseconds / 86_400_000 }

    /// The number of hours since 1970.
    package var hour: Int64 { milliseconds / 3_600_000 }
}

extension RowKey {
    /// The replica that a head is of.
    var replica: ReplicaID? {
        guard kind == .replica, key.count == 8 else { return nil }
        return ReplicaID(rawValue: Int64(keyBytes: key))
    }
}
