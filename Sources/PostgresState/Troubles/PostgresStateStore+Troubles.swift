// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Writes only what is new: one round trip.
    package func noteTrouble(
        _ kind: DeviceTrouble.Kind, code: String, count: Int, since: Instant, of replica: ReplicaID, at now: Instant
    ) async throws -> (before: DeviceTrouble?, after: DeviceTrouble)? {
        let parameters: [PostgresParameter] = [.integer(replica.rawValue), .text(kind.rawValue)]
        let results = try await write([
            PostgresStatement("\(DeviceTrouble.selection) WHERE t.replica = $1 AND t.kind = $2", parameters),
            PostgresStatement(
                """
                INSERT INTO device_trouble AS t (principal, replica, kind, count, since, last_at, code)
                SELECT r.principal, r.id, $2, greatest($3, 1), $7, $4, $5 FROM replica r WHERE r.id = $1 AND NOT r.dead
                ON CONFLICT (principal, replica, kind) DO UPDATE SET code = $5,
                    count = CASE WHEN \(Self.isDue) THEN greatest(t.count + 1, $3) ELSE t.count END,
                    last_at = CASE WHEN \(Self.isDue) THEN $4 ELSE t.last_at END
                WHERE \(Self.isDue) OR t.code <> $5
                RETURNING \(DeviceTrouble.columns)
                """,
                parameters + [
                    .int(count), .instant(now), .text(remark(code)), .integer(limits.touchInterval), .instant(since),
                ]),
        ])
        guard let after = try results.row(1).flatMap({ try DeviceTrouble($0) }) else { return nil }
        return (try results.row(0).flatMap { try DeviceTrouble($0) }, after)
    }

    private static let isDue = "(t.last_at < $4 AND $4 - t.last_at >= $6)"

    /// Deletes troubles: one round trip.
    package func endTroubles(_ kinds: Set<DeviceTrouble.Kind>, of replica: ReplicaID) async throws -> [DeviceTrouble] {
        try await write(
            kinds.sorted { $0.rawValue < $1.rawValue }.map { kind in
                PostgresStatement(
                    """
                    DELETE FROM device_trouble t USING replica r
                    WHERE \(DeviceTrouble.ends)
                    RETURNING \(DeviceTrouble.columns)
                    """, [.integer(replica.rawValue), .text(kind.rawValue)])
            }
        ).flatMap { try $0.rows.compactMap { try DeviceTrouble($0) } }.filter { $0.replica == replica }
    }

    /// Reads the troubles by the index of their times.
    package func stuckDevices(by rule: StuckRule, since: Instant, limit: Int) async throws -> [DeviceTrouble] {
        try await read([
            PostgresStatement(
                """
                \(DeviceTrouble.selection) WHERE \(DeviceTrouble.isStuck)
                ORDER BY t.last_at DESC, t.replica, t.kind LIMIT $5
                """,
                [.instant(since), .int(rule.repeats), .int(rule.pushes), .integer(rule.time), .int(page(limit))])
        ]).rows(0).compactMap { try DeviceTrouble($0) }
    }

    /// Deletes what is recorded of replicas that are gone.
    func collectTroubles() async throws {
        try await collectBatches { batch in
            PostgresStatement(
                """
                DELETE FROM device_trouble WHERE (principal, replica, kind) IN (
                    SELECT t.principal, t.replica, t.kind FROM device_trouble t
                    LEFT JOIN replica r ON r.principal = t.principal AND r.id = t.replica
                    WHERE r.id IS NULL OR r.dead LIMIT $1)
                """, [.int(batch)])
        }
    }
}

extension DeviceTrouble {
    fileprivate static let columns = """
        t.replica, t.principal, t.kind, t.count, t.since, t.last_at, t.code,
            \(PostgresStatement.origin(of: "t.principal"))
        """
    fileprivate static let selection = """
        SELECT \(columns)
        FROM device_trouble t JOIN replica r ON r.principal = t.principal AND r.id = t.replica AND NOT r.dead
        """

    /// Holds for the rows that end with the trouble `$2` of the replica `$1`: with a first sync, those of its run.
    fileprivate static let ends = """
        r.id = $1 AND NOT r.dead AND t.principal = r.principal AND t.kind = $2
            AND (t.replica = $1 OR $2 = 'first_sync' AND t.since = (
                SELECT since FROM device_trouble o
                WHERE o.principal = r.principal AND o.replica = $1 AND o.kind = $2))
        """

    /// Holds for a row that is stuck by the rule `$1`–`$4`: a first sync only if no later replica of its session, or
    /// of its run of first syncs, has come.
    fileprivate static let isStuck = """
        t.last_at >= $1 AND (
            (t.kind IN ('same_cursor', 'first_sync') AND $2 > 0 AND t.count >= $2)
            OR (t.kind = 'push_fails' AND $3 > 0 AND t.count >= $3)
            OR (t.kind IN ('push_fails', 'pull_fails') AND $4 > 0 AND t.count > 1
                AND t.last_at - t.since >= $4))
            AND (t.kind <> 'first_sync' OR NOT EXISTS (
                SELECT 1 FROM replica o WHERE o.principal = r.principal AND NOT o.dead
                    AND (o.first_seen, o.id) > (r.first_seen, r.id) AND (
                        EXISTS (SELECT 1 FROM cursor c
                            JOIN cursor d ON d.principal = c.principal AND d.session = c.session
                            WHERE c.principal = r.principal AND c.replica = o.id AND d.replica = r.id)
                        OR EXISTS (SELECT 1 FROM device_trouble n
                            WHERE n.principal = r.principal AND n.replica = o.id AND n.kind = t.kind
                                AND n.since = t.since))))
        """

    /// Reads a row of ``selection``; nil for a kind that a newer gateway has written.
    fileprivate init?(_ row: PostgresRow) throws {
        guard let kind = Kind(rawValue: try row.text(2)) else { return nil }
        try self.init(
            replica: ReplicaID(rawValue: row.integer(0)), principal: row.principal(1, origin: 7), kind: kind,
            count: Int(row.number(3)), since: row.instant(4), lastAt: row.instant(5), code: row.text(6))
    }
}
