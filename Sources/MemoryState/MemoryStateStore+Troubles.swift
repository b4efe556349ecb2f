// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension MemoryStateStore {
    /// Records that a replica did not get on.
    package func noteTrouble(
        _ kind: DeviceTrouble.Kind, code: String, count: Int, since: Instant, of replica: ReplicaID, at now: Instant
    ) async throws -> (before: DeviceTrouble?, after: DeviceTrouble)? {
        try await write { contents in
            guard let known = contents.replicas[replica] else { return nil }
            let (before, code) = (known.troubles[kind], remark(code))
            let first = DeviceTrouble(
                replica: replica, principal: known.principal, kind: kind, count: max(1, count), since: since,
                lastAt: now, code: code)
            let after =
                before.map {
                    $0.again(code: code, count: count, at: now, interval: contents.limits.touchInterval)
                } ?? first
            guard let after else { return nil }
            contents.replicas[replica]?.troubles[kind] = after
            return (before, after)
        }
    }

    /// Forgets troubles.
    package func endTroubles(
        _ kinds: Set<DeviceTrouble.Kind>, of replica: ReplicaID
    ) async throws -> [DeviceTrouble] {
        try await write { contents in
            let ended = kinds.compactMap { contents.replicas[replica]?.troubles.removeValue(forKey: $0) }
            for first in ended where first.kind == .firstSync {
                for (id, other) in contents.replicas(of: first.principal)
                where other.troubles[.firstSync]?.since == first.since {
                    contents.replicas[id]?.troubles[.firstSync] = nil
                }
            }
            return ended.sorted { $0.kind.rawValue < $1.kind.rawValue }
        }
    }

    /// Looks at all replicas.
    package func stuckDevices(by rule: StuckRule, since: Instant, limit: Int) async throws -> [DeviceTrouble] {
        try await read { contents in
            let troubles = contents.replicas.flatMap { id, replica in
                replica.troubles.values.filter { trouble in
                    let isOld =
                        trouble.kind == .firstSync
                        && contents.replicas(of: replica.principal).contains { other, known in
                            (known.firstSeen, other.rawValue) > (replica.firstSeen, id.rawValue)
                                && (known.troubles[.firstSync]?.since == trouble.since
                                    || !contents.sessions(of: other).isDisjoint(with: contents.sessions(of: id)))
                        }
                    return trouble.lastAt >= since && rule.isMet(by: trouble) && !isOld
                }
            }
            let sorted = troubles.sorted {
                ($1.lastAt, $0.replica.rawValue, $0.kind.rawValue) < ($0.lastAt, $1.replica.rawValue, $1.kind.rawValue)
            }
            return Array(sorted.prefix(page(limit)))
        }
    }

    /// Counts the replicas that were seen last.
    package func schemaVersions(ofLast limit: Int) async throws -> [SchemaVersionCount] {
        try await read { contents in
            let seen = contents.replicas.values.sorted { $0.lastSeen > $1.lastSeen }.prefix(page(limit))
            let counts = Dictionary(grouping: seen) { $0.schemaVersion ?? $0.pushedVersion }
            return counts.map { SchemaVersionCount(version: $0.key, devices: $0.value.count) }
                .sorted { $0.version ?? -1 > $1.version ?? -1 }
        }
    }
}
