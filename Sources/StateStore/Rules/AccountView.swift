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

        /// Creates a value.
        package init(_ value: T?, version: Int64) {
            self.value = value
            self.version = version
        }
    }

    /// The head of the principal; nil if it was not loaded.
    package var head: Versioned<PrincipalHead>?
    /// The replicas that were loaded.
    package var replicas: [ReplicaID: Versioned<ReplicaHead>] = [:]
    /// The values that hold since backups were restored.
    package var epochs: Versioned<StateEpochs>?
    /// Numbers that were reserved for the rule, by kind.
    package var numbers: [RowKind: [Int64]] = [:]
    /// The rows that were loaded.
    package var answers: [Lookup: [ByteRow]] = [:]

    /// Creates a view of nothing.
    package init() {}

    /// Returns true if a lookup has been answered.
    func knows(_ lookup: Lookup) -> Bool {
        if case .row(let key) = lookup {
            if key.kind == .principal { return head != nil }
            if let replica = key.replica { return replicas[replica] != nil }
            if key == StateEpochs.key { return epochs != nil }
        }
        return answers[lookup] != nil
    }

    /// Takes the answer to a lookup; heads that are known already are newer.
    package mutating func take(_ rows: [ByteRow], of lookup: Lookup, owner: Int64) throws {
        answers[lookup] = rows
        if case .row(let key) = lookup, rows.isEmpty {
            if key.kind == .principal { head = head ?? Versioned(nil, version: 0) }
            if let id = key.replica { replicas[id] = replicas[id] ?? Versioned(nil, version: 0) }
            if key == StateEpochs.key { epochs = Versioned(nil, version: 0) }
        }
        for row in rows where row.key.owner == owner || row.key.owner == 0 {
            if row.key.kind == .principal, head == nil {
                head = Versioned(try PrincipalHead(decoding: row.bytes), version: row.version)
            }
            if row.key == StateEpochs.key {
                epochs = Versioned(try StateEpochs(decoding: row.bytes), version: row.version)
            }
            if let id = row.key.replica, replicas[id] == nil {
                // A damaged head stops its device, which is then unknown, and not the others.
                replicas[id] = Versioned(try? ReplicaHead(decoding: row.bytes), version: row.version)
            }
        }
    }

    /// Returns the version of a head.
    func version(of key: RowKey) -> Int64 {
        if key.kind == .principal { return head?.version ?? 0 }
        if key == StateEpochs.key { return epochs?.version ?? 0 }
        return key.replica.flatMap { replicas[$0]?.version } ?? 0
    }

    /// Returns the view without what only heads guard.
    package var heads: AccountView {
        var view = self
        view.answers = [:]
        view.numbers = [:]
        return view
    }
}

/// Gives numbers that rise with the time and that nothing else has.
package protocol NumberSource: Sendable {
    /// Returns a number, about the greatest that was given so far.
    func next(at now: Instant) -> Int64
}
