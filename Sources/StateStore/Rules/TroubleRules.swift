// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Records the devices that do not get on.
package enum TroubleRules {
    private static func rowKey(_ replica: ReplicaID, _ kind: DeviceTrouble.Kind, of owner: Int64) -> RowKey {
        rowKey(replica, kind.rawValue, of: owner)
    }

    private static func rowKey(_ replica: ReplicaID, _ kind: String, of owner: Int64) -> RowKey {
        RowKey(.trouble, of: owner, replica.rawValue.keyBytes + Array(kind.utf8))
    }

    /// Returns the trouble that a row is about; nil for a kind that only a newer gateway knows, and if it cannot be read:
    /// the next one takes its place.
    package static func trouble(_ row: ByteRow, of principal: Principal) -> DeviceTrouble? {
        let name = String(decoding: row.key.key.dropFirst(8), as: UTF8.self)
        guard let kind = DeviceTrouble.Kind(rawValue: name), var trouble = try? DeviceTrouble(decoding: row.bytes)
        else { return nil }
        (trouble.replica, trouble.principal) = (ReplicaID(rawValue: Int64(keyBytes: row.key.key)), principal)
        trouble.kind = kind
        return trouble
    }

    /// Records that a replica did not get on: once per touch interval, and the code whenever it is another one.
    ///
    /// Nothing that clients see depends on it. An unknown replica is not an error. `first` is recorded if the state
    /// knows of no such trouble; its count counts if the caller has counted more than the state. The result is the
    /// record before and after; nil if nothing was written.
    package static func note(
        _ first: DeviceTrouble, in account: inout Account
    ) throws -> (before: DeviceTrouble?, after: DeviceTrouble)? {
        let row = rowKey(first.replica, first.kind, of: account.owner)
        try account.need([.row(row)])
        guard try account.replica(first.replica) != nil else { return nil }
        let before = try account.row(row).flatMap { trouble($0, of: account.principal) }
        var first = first
        first.code = remark(first.code)
        first.count = max(1, first.count)
        let interval = account.setting.limits.touchInterval
        guard
            let after = before.map({
                $0.again(code: first.code, count: first.count, at: first.lastAt, interval: interval)
            }) ?? first
        else { return nil }
        // The rank tells troubles of one moment apart.
        let rank = first.replica.rawValue ^ Int64(DeviceTrouble.Kind.allCases.firstIndex(of: first.kind) ?? 0)
        try account.put(after, at: row, number: after.lastAt.milliseconds, rank: rank)
        if before == nil { try account.withReplica(first.replica) { _ = $0.troubles.insert(first.kind) } }
        return (before, after)
    }

    /// Deletes what is recorded of a replica, and first syncs that were counted together with its own.
    package static func end(
        _ kinds: Set<DeviceTrouble.Kind>, of id: ReplicaID, in account: inout Account
    ) throws -> [DeviceTrouble] {
        guard let replica = try account.replica(id) else { return [] }
        let ended = try remove(kinds.intersection(replica.troubles), of: id, in: &account)
        for first in ended where first.kind == .firstSync {
            for other in try counted(with: first, in: &account) {
                _ = try remove([.firstSync], of: other, in: &account)
            }
        }
        return ended.sorted { $0.kind.rawValue < $1.kind.rawValue }
    }

    /// Returns the replicas of first syncs that were counted together with another one.
    private static func counted(with first: DeviceTrouble, in account: inout Account) throws -> Set<ReplicaID> {
        let principal = account.principal
        let troubles = try account.rows(.trouble).compactMap { trouble($0, of: principal) }
        return Set(troubles.filter { $0.kind == .firstSync && $0.since == first.since }.map(\.replica))
    }

    private static func remove(
        _ kinds: Set<DeviceTrouble.Kind>, of id: ReplicaID, in account: inout Account
    ) throws -> [DeviceTrouble] {
        let keys = kinds.map { rowKey(id, $0, of: account.owner) }
        try account.need(keys.map(Lookup.row))
        let ended = try keys.compactMap { key in
            try account.row(key).flatMap { trouble($0, of: account.principal) }
        }
        for row in keys { account.delete(row) }
        try account.withReplica(id) { $0.troubles.subtract(kinds) }
        return ended
    }

    static func dropAll(of replica: ReplicaHead, in account: inout Account) throws {
        for kind in replica.troubles.map(\.rawValue) + replica.laterTroubles {
            account.delete(rowKey(replica.id, kind, of: account.owner))
        }
    }

    /// Returns the first syncs that never came back and are not those of the device: a newer replica of the same session
    /// has begun, or one that was counted together with it.
    package static func superseded(
        _ first: [DeviceTrouble], in account: inout Account
    ) throws -> Set<ReplicaID> {
        let replicas = try account.allReplicas()
        let known = Dictionary(uniqueKeysWithValues: replicas.map { ($0.id, $0) })
        return try Set(first.map(\.replica)).filter { id in
            guard let own = known[id], let trouble = first.first(where: { $0.replica == id }) else { return true }
            let counted = try counted(with: trouble, in: &account)
            return replicas.contains { other in
                (other.firstSeen, other.id.rawValue) > (own.firstSeen, own.id.rawValue)
                    && (counted.contains(other.id) || !other.sessions.isDisjoint(with: own.sessions))
            }
        }
    }
}
