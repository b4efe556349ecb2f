// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Reads first, and writes only if there is something new.
    package func noteTrouble(
        _ kind: DeviceTrouble.Kind, code: String, count: Int, since: Instant, of replica: ReplicaID, at now: Instant
    ) async throws -> (before: DeviceTrouble?, after: DeviceTrouble)? {
        let (interval, code) = (limits.touchInterval, remark(code))
        let news: @Sendable (Database) throws -> (before: DeviceTrouble?, after: DeviceTrouble)? = { db in
            let row = try db.row(
                """
                SELECT p.digest, t.count, coalesce(t.since, 0), coalesce(t.last_at, 0), coalesce(t.code, ''),
                    p.user_digest, p.scope
                FROM replica r JOIN principal p ON p.id = r.principal
                LEFT JOIN device_trouble t ON t.replica = r.id AND t.kind = ? WHERE r.id = ? AND r.dead = 0
                """, [kind.rawValue, replica.rawValue])
            guard let row else { return nil }
            let principal = try row.principal(0, origin: 5)
            guard try row.optionalInteger(1) != nil else {
                return (
                    nil,
                    DeviceTrouble(
                        replica: replica, principal: principal, kind: kind, count: max(1, count), since: since,
                        lastAt: now, code: code)
                )
            }
            let before = try DeviceTrouble(
                replica: replica, principal: principal, kind: kind, count: Int(row.number(1)), since: row.instant(2),
                lastAt: row.instant(3), code: row.text(4))
            return before.again(code: code, count: count, at: now, interval: interval).map { (before, $0) }
        }
        guard try await readForWrite({ try news($0) != nil }) else { return nil }
        return try await write { db in
            guard let (before, after) = try news(db) else { return nil }
            try db.run(
                """
                INSERT INTO device_trouble (replica, kind, count, since, last_at, code) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (replica, kind) DO UPDATE SET count = ?3, last_at = ?5, code = ?6
                """, [replica.rawValue, kind.rawValue, after.count, after.since, after.lastAt, after.code])
            return (before, after)
        }
    }

    /// Deletes troubles in one transaction.
    package func endTroubles(_ kinds: Set<DeviceTrouble.Kind>, of replica: ReplicaID) async throws -> [DeviceTrouble] {
        try await write { db in
            var ended: [DeviceTrouble] = []
            for kind in kinds.sorted(by: { $0.rawValue < $1.rawValue }) {
                ended += try db.rows(
                    "\(DeviceTrouble.selection) WHERE t.replica = ? AND t.kind = ? AND r.dead = 0",
                    [replica.rawValue, kind.rawValue]
                ).compactMap { try DeviceTrouble($0) }
                try db.run(
                    "DELETE FROM device_trouble WHERE \(DeviceTrouble.ends)", [replica.rawValue, kind.rawValue])
            }
            return ended
        }
    }

    /// Reads the troubles by the index of their times.
    package func stuckDevices(by rule: StuckRule, since: Instant, limit: Int) async throws -> [DeviceTrouble] {
        try await read { db in
            try db.rows(
                """
                \(DeviceTrouble.selection) WHERE \(DeviceTrouble.isStuck)
                ORDER BY t.last_at DESC, t.replica, t.kind LIMIT ?5
                """, [since, rule.repeats, rule.pushes, rule.time, min(max(0, limit), 10_000)]
            ).compactMap { try DeviceTrouble($0) }
        }
    }
}

extension DeviceTrouble {
    fileprivate static let selection = """
        SELECT t.replica, p.digest, t.kind, t.count, t.since, t.last_at, t.code, p.user_digest, p.scope
        FROM device_trouble t JOIN replica r ON r.id = t.replica JOIN principal p ON p.id = r.principal
        """

    /// Holds for the rows that end with the trouble `?2` of the replica `?1`: with a first sync, those of its run.
    fileprivate static let ends = """
        kind = ?2 AND (replica = ?1 OR ?2 = 'first_sync'
            AND replica IN (SELECT o.id FROM replica o JOIN replica r ON r.principal = o.principal WHERE r.id = ?1)
            AND since = (SELECT since FROM device_trouble WHERE replica = ?1 AND kind = ?2))
        """

    /// Holds for a row that is stuck by the rule `?1`–`?4`: a first sync only if no later replica of its session, or
    /// of its run of first syncs, has come.
    fileprivate static let isStuck = """
        t.last_at >= ?1 AND r.dead = 0 AND (
            (t.kind IN ('same_cursor', 'first_sync') AND ?2 > 0 AND t.count >= ?2)
            OR (t.kind = 'push_fails' AND ?3 > 0 AND t.count >= ?3)
            OR (t.kind IN ('push_fails', 'pull_fails') AND ?4 > 0 AND t.count > 1
                AND t.last_at - t.since >= ?4))
            AND (t.kind <> 'first_sync' OR NOT EXISTS (
                SELECT 1 FROM replica o WHERE o.principal = r.principal AND o.dead = 0
                    AND (o.first_seen, o.id) > (r.first_seen, r.id) AND (
                        EXISTS (SELECT 1 FROM cursor c JOIN cursor d ON d.session = c.session
                            WHERE c.replica = o.id AND d.replica = r.id)
                        OR EXISTS (SELECT 1 FROM device_trouble n
                            WHERE n.replica = o.id AND n.kind = t.kind AND n.since = t.since))))
        """

    /// Reads a row of ``selection``; nil for a kind that a newer gateway has written.
    fileprivate init?(_ row: StoredRow) throws {
        guard let kind = Kind(rawValue: try row.text(2)) else { return nil }
        try self.init(
            replica: ReplicaID(rawValue: row.integer(0)), principal: row.principal(1, origin: 7), kind: kind,
            count: Int(row.number(3)), since: row.instant(4), lastAt: row.instant(5), code: row.text(6))
    }
}
