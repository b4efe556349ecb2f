// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Heads and rows of one principal that were loaded.
package struct AccountView: Sendable {
    /// A value and its version; no value has version 0.
    package struct Versioned<T: Sendable>: Sendable {
        /// The value; nil if there is none.
        package var value: T?
        /// The version.
        package var version: Int64
        /// The number of bytes from which it was read, or to which it was written, without pages.
        var size: Int

        /// Creates a value.
        package init(_ value: T?, version: Int64, size: Int = 0) {
            self.value = value
            self.version = version
            self.size = size
        }
    }

    /// The head of the principal; nil if it was not loaded.
    package var head: Versioned<PrincipalHead>?
    /// The replicas that were loaded.
    package var replicas: [ReplicaID: Versioned<ReplicaHead>] = [:]
    /// The replicas whose pages have still to be loaded.
    private var unpaged: [ReplicaID: Versioned<ReplicaHead>] = [:]
    /// The versions of those whose pages were not there.
    private var halves: [ReplicaID: Int64] = [:]
    /// The values that hold since backups were restored.
    package var epochs: Versioned<StateEpochs>?
    /// Numbers that were reserved for the rule, by kind.
    package var numbers: [RowKind: [Int64]] = [:]
    /// The chunks that were loaded; nil for those that are not there.
    package var chunks: [Int64: [UInt8]?] = [:]
    /// The rows that were loaded.
    package var answers: [Lookup: [ByteRow]] = [:]

    /// Creates a view of nothing.
    package init() {}

    func knows(_ lookup: Lookup) -> Bool {
        if case .row(let key) = lookup {
            if key.kind == .principal { return head != nil }
            if let replica = key.replica { return replicas[replica] != nil || unpaged[replica] != nil }
            if key == StateEpochs.key { return epochs != nil }
        }
        return answers[lookup] != nil
    }

    /// Takes the answer to a lookup; heads that are known already are newer.
    package mutating func take(_ rows: [ByteRow], of lookup: Lookup, owner: Int64) throws {
        // Heads and pages are kept as values.
        if case .replica(let key) = lookup {
            answers[lookup] = rows.filter { $0.key == key }
        } else {
            answers[lookup] = rows
        }
        if case .row(let key) = lookup, rows.isEmpty {
            if key.kind == .principal { head = head ?? Versioned(nil, version: 0) }
            if let id = key.replica { replicas[id] = replicas[id] ?? Versioned(nil, version: 0) }
            if key == StateEpochs.key { epochs = Versioned(nil, version: 0) }
        }
        for row in rows where row.key.owner == owner || row.key.owner == 0 {
            if row.key.kind == .principal, head == nil {
                head = Versioned(try PrincipalHead(row), version: row.version)
            }
            if row.key == StateEpochs.key {
                epochs = Versioned(try StateEpochs(decoding: row.bytes), version: row.version)
            }
            if let id = row.key.replica, replicas[id] == nil {
                // A damaged head stops its device, which is then unknown, and not the others.
                let value = try? ReplicaHead(decoding: row.bytes)
                let head = Versioned(value, version: row.version, size: row.bytes.count)
                if head.value?.pages.isEmpty ?? true { replicas[id] = head } else { unpaged[id] = head }
            }
        }
        if case .rows(.recent, _, let prefix, _, _) = lookup {
            take(pages: rows, of: ReplicaID(rawValue: Int64(keyBytes: prefix)), all: true)
        } else if let page = rows.first(where: { $0.key.kind == .recent }) {
            take(pages: rows, of: ReplicaID(rawValue: Int64(keyBytes: page.key.key)), all: false)
        }
    }

    /// Takes pages of a head that were read with it, or by themselves and then all of them.
    private mutating func take(pages rows: [ByteRow], of id: ReplicaID, all: Bool) {
        guard var head = unpaged[id] else { return }
        if (try? head.value?.take(pages: rows)) ?? false {
            (replicas[id], unpaged[id]) = (head, nil)
        } else if all {
            unpaged[id] = nil
            // The pages may be of another moment than the head, which is loaded again. If it is the same then, it is
            // damaged.
            if halves[id] == head.version { replicas[id] = Versioned(nil, version: head.version) }
            halves[id] = head.version
        }
    }

    /// Returns what is still to be loaded for a replica.
    func missing(of id: ReplicaID, _ owner: Int64) -> Missing {
        let head = Lookup.row(RowKey(.replica, of: owner, number: id.rawValue))
        return Missing(lookups: [unpaged[id] == nil ? head : Self.pages(of: id, owner)])
    }

    static func pages(of id: ReplicaID, _ owner: Int64) -> Lookup {
        .all(.recent, of: owner, prefix: id.rawValue.keyBytes)
    }

    func version(of key: RowKey) -> Int64 {
        if key.kind == .principal { return head?.version ?? 0 }
        if key == StateEpochs.key { return epochs?.version ?? 0 }
        return key.replica.flatMap { replicas[$0]?.version } ?? 0
    }

    /// The most replicas of a principal that are kept, and a quarter of the most rows; with more, all are read anew.
    private static let maximumKept = 64

    /// Returns the part of the view that stays true as long as nobody changes the principal: its heads and single rows.
    package func kept(of owner: Int64) -> AccountView {
        var view = self
        (view.numbers, view.chunks) = ([:], [:])
        func stays(_ lookup: Lookup) -> Bool {
            switch lookup {
            case .row(let key), .replica(let key): key.owner == owner
            default: false
            }
        }
        for lookup in answers.keys where !stays(lookup) { view.answers[lookup] = nil }
        // Thousands of devices may have one login: what is kept of all of them must not weigh on the pull of each.
        if replicas.count > Self.maximumKept || view.answers.count > 4 * Self.maximumKept {
            (view.replicas, view.unpaged, view.halves, view.answers) = ([:], [:], [:], [:])
        }
        return view
    }

    /// Takes from an older view what this one does not have, if its heads are the same: rows without a version are only
    /// as old as the head that counts them.
    package mutating func complete(with older: AccountView) {
        guard head == nil || head?.version == older.head?.version, unpaged.isEmpty,
            replicas.allSatisfy({ older.replicas[$0.key]?.version == $0.value.version })
        else { return }
        (head, epochs) = (head ?? older.head, epochs ?? older.epochs)
        replicas.merge(older.replicas) { own, _ in own }
        answers.merge(older.answers) { own, _ in own }
    }

    /// The bytes that the view takes in memory, about.
    package var weight: Int {
        let rows = answers.values.joined().reduce(2_000) { $0 + 200 + $1.bytes.count }
        return replicas.values.reduce(rows) { weight, replica in
            let pages = replica.value?.pages.reduce(0) { $0 + $1.size } ?? 0
            // Texts may have any length, and are twice there while cursors differ in them.
            return weight + (replica.value?.weight ?? 0) + 2 * (replica.size + pages)
        }
    }

    /// Returns the view as changes leave it.
    func after(_ changes: RowChanges, owner: Int64) -> AccountView {
        var view = kept(of: owner)
        for (key, row) in changes.rows where view.answers[.row(key)] != nil {
            view.answers[.row(key)] = row.map { [$0] } ?? []
        }
        for key in changes.increments.keys { view.answers[.row(key)] = nil }
        for key in changes.floors.keys { view.answers[.row(key)] = nil }
        for (key, row) in changes.rows where key.kind == .cursor && row == nil {
            view.answers[.replica(namedBy: key)] = nil
        }
        for row in changes.added where row.key.kind == .cursor {
            view.answers[.row(row.key)] = nil
            let isKnown = view.replicas[ReplicaID(rawValue: row.rank)] != nil
            view.answers[.replica(namedBy: row.key)] = isKnown ? [row] : nil
            view.forgetGrandparent(of: row)
        }
        // The notes of what was pushed before this push seldom come again.
        if view.answers.count > Self.maximumKept, changes.rows.keys.contains(where: { $0.kind == .note }) {
            view.answers = view.answers.filter { lookup, _ in
                guard case .row(let key) = lookup else { return true }
                return changes.rows[key] != nil || key.kind == .session || key.kind == .move
            }
        }
        return view
    }
}

extension AccountView {
    /// Forgets where the cursor is that came two before a new one: a device presents the new one next, or the one
    /// before.
    private mutating func forgetGrandparent(of row: ByteRow) {
        let replica = replicas[ReplicaID(rawValue: row.rank)]?.value
        guard let cursor = Cursor(rawValue: row.number), let parent = replica?[cursor]?.parent,
            let grandparent = replica?[parent]?.parent
        else { return }
        answers[.replica(namedBy: RowKey(.cursor, of: row.key.owner, number: grandparent.rawValue))] = nil
    }
}
