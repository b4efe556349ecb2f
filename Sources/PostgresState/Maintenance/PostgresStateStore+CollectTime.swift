// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

/// Values that collections leave for each other in `meta`, whichever gateway runs them.
extension PostgresStateStore {
    /// Records a collection, and returns the retention corrected by the time that has really passed.
    func passTime(_ wanted: Retention, into collected: inout Collected) async throws -> Retention {
        let me = collector
        let (leapt, retention) = try await transaction { transaction in
            let values = try await Self.values(
                ["collected_at", "leapt", "leapt_at", "collected_by"], &transaction)
            var time = CollectionTime(
                collectedAt: values["collected_at"].map(Instant.init(milliseconds:)), leapt: values["leapt"] ?? 0,
                leaptAt: Instant(milliseconds: values["leapt_at"] ?? 0))
            // How long this process has run says nothing about the time since another gateway's collection.
            let ran = values["collected_by"] == me ? wanted.ran : nil
            let leapt = time.pass(
                to: wanted.now, ran: ran, longest: wanted.now.milliseconds(since: wanted.seenBefore))
            _ = try await transaction.commit(
                Self.store([
                    "collected_at": wanted.now.milliseconds, "leapt": time.leapt,
                    "leapt_at": time.leaptAt.milliseconds, "collected_by": me,
                ]))
            return (leapt, time.corrected(wanted))
        }
        collected.leapt = leapt
        return retention
    }

    /// Forgets replicas that were not seen for long, but only a share of all replicas in an hour: if the clock or the
    /// configuration is wrong, the operator still has time to stop it.
    func buryUnseen(_ retention: Retention) async throws -> Int {
        let batch = max(1, limits.collectBatch)
        var total = 0
        while true {
            try Task.checkCancellation()
            let count = try await buryUnseen(retention, batch)
            total += count
            if count < batch { return total }
        }
    }

    private func buryUnseen(_ retention: Retention, _ batch: Int) async throws -> Int {
        try await transaction { transaction in
            let unseen = try await transaction.query(
                PostgresStatement(
                    "SELECT 1 FROM replica WHERE last_seen < $1 AND NOT dead LIMIT 1", [.instant(retention.seenBefore)])
            )
            guard !unseen.rows.isEmpty else { return 0 }
            let values = try await Self.values(["burials_since", "burials_left"], &transaction)
            var since = Instant(milliseconds: values["burials_since"] ?? 0)
            var left = values["burials_left"] ?? 0
            if retention.now.milliseconds(since: since) >= CollectionTime.period || since > retention.now {
                since = retention.now
                let count = try await transaction.query(Self.countReplicas).rows.first?.integer(0) ?? 0
                left = max(1, count / Int64(CollectionTime.burialShare))
            }
            let killed = try await transaction.query(
                PostgresStatement(
                    """
                    UPDATE replica r SET dead = true, tip = NULL, base = NULL, compacted = NULL
                    FROM (SELECT principal, id FROM replica WHERE last_seen < $1 AND NOT dead
                        ORDER BY last_seen, id LIMIT $2) old
                    WHERE r.principal = old.principal AND r.id = old.id AND r.last_seen < $1 AND NOT r.dead
                    """, [.instant(retention.seenBefore), .integer(min(Int64(batch), left))])
            ).count
            _ = try await transaction.commit(
                Self.store(["burials_since": since.milliseconds, "burials_left": left - Int64(killed)]))
            return killed
        }
    }

    /// Counts few replicas; of many, the server's estimate is near enough.
    private static let countReplicas: PostgresStatement = """
        SELECT CASE WHEN reltuples > 1000000 THEN reltuples::bigint ELSE (SELECT count(*) FROM replica) END
        FROM pg_catalog.pg_class WHERE oid = 'replica'::regclass
        """

    /// Returns values, which nobody else changes until the end of the transaction.
    private static func values(
        _ names: [String], _ transaction: inout PostgresTransaction
    ) async throws -> [String: Int64] {
        let results = try await transaction.pipeline(
            names.sorted().map { name in
                PostgresStatement("SELECT key, value FROM meta WHERE key = $1 FOR UPDATE", [.text(name)])
            })
        return try results.flatMap(\.rows).reduce(into: [:]) { values, row in
            // A damaged number must not become an overflow.
            values[try row.text(0)] = min(max(try row.integer(1), 0), 1 << 53)
        }
    }

    private static func store(_ values: [String: Int64]) -> [PostgresStatement] {
        values.sorted { $0.key < $1.key }.map { name, value in
            PostgresStatement(
                "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2",
                [.text(name), .integer(value)])
        }
    }
}
