// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import SyncModel

// Values that collections leave for each other in `meta`.
extension Database {
    /// Records a collection, and returns the retention corrected by the time that has really passed.
    func passTime(_ retention: Retention, into collected: inout Collected) throws -> Retention {
        var time = CollectionTime(
            collectedAt: try remembered("collected_at").map(Instant.init(milliseconds:)),
            leapt: try remembered("leapt") ?? 0,
            leaptAt: Instant(milliseconds: try remembered("leapt_at") ?? 0))
        collected.leapt = time.pass(
            to: retention.now, ran: retention.ran, longest: retention.now.milliseconds(since: retention.seenBefore))
        try remember("collected_at", retention.now.milliseconds)
        try remember("leapt", time.leapt)
        try remember("leapt_at", time.leaptAt.milliseconds)
        return time.corrected(retention)
    }

    /// Forgets replicas that were not seen for long, but only a share of all replicas in an hour: if the clock or the
    /// configuration is wrong, the operator still has time to stop it.
    ///
    /// - Returns: The number of replicas; if it is `batch`, there may be more.
    func buryUnseen(_ retention: Retention, _ batch: Int) throws -> Int {
        guard try exists("SELECT 1 FROM replica WHERE last_seen < ? AND dead = 0 LIMIT 1", [retention.seenBefore])
        else { return 0 }
        var since = Instant(milliseconds: try remembered("burials_since") ?? 0)
        var left = try remembered("burials_left") ?? 0
        if retention.now.milliseconds(since: since) >= CollectionTime.period || since > retention.now {
            since = retention.now
            left = max(1, (try integer("SELECT count(*) FROM replica") ?? 0) / Int64(CollectionTime.burialShare))
        }
        let rows = try rows(
            "SELECT id FROM replica WHERE last_seen < ? AND dead = 0 ORDER BY last_seen LIMIT ?",
            [retention.seenBefore, min(Int64(batch), left)])
        for row in rows { try kill(row.integer(0)) }
        try remember("burials_since", since.milliseconds)
        try remember("burials_left", left - Int64(rows.count))
        return rows.count
    }

    private func remembered(_ key: String) throws -> Int64? {
        // A damaged number must not become an overflow.
        try integer("SELECT value FROM meta WHERE key = ?", [key]).map { min(max($0, 0), 1 << 53) }
    }

    private func remember(_ key: String, _ value: Int64) throws {
        try run(
            "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2 WHERE value <> ?2",
            [key, value])
    }
}
