// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Postgres
package import StateStore
import SyncModel

extension PostgresStateStore {
    /// Returns lines by the index of the times, newest first.
    package func quarantined(limit: Int) async throws -> [QuarantineEntry] {
        try await read([
            PostgresStatement(
                "SELECT \(QuarantineEntry.columns) FROM quarantine ORDER BY last_seen DESC, id DESC LIMIT $1",
                [.int(page(limit))])
        ]).rows(0).compactMap { try QuarantineEntry($0) }
    }

    /// Counts the lines, of which there are at most some ten thousand.
    package func quarantineCounts() async throws -> QuarantineCounts {
        let results = try await read([
            "SELECT reason, count(*) FROM quarantine GROUP BY reason",
            "SELECT value FROM meta WHERE key = 'quarantine_dropped'",
        ])
        var counts = QuarantineCounts()
        for row in results.rows(0) {
            let number = Int(try row.number(1))
            counts.entries += number
            if let reason = QuarantinedLine.Reason(rawValue: try row.text(0)) { counts.byReason[reason] = number }
        }
        counts.dropped = Int(try results.row(1)?.number(0) ?? 0)
        return counts
    }

    /// Returns the statements that keep lines that could not be delivered; a line that is known already is only
    /// counted.
    func quarantine(
        _ lines: [QuarantinedLine], for principal: Principal, at now: Instant
    ) throws -> [PostgresStatement] {
        guard !lines.isEmpty else { return [] }
        let room = max(1, limits.quarantineEntries)
        // By their digests, so that two pulls with the same lines do not wait for each other.
        let kept = lines.prefix(room).map { ($0, $0.identity) }.enumerated().sorted { a, b in
            a.element.1 == b.element.1 ? a.offset < b.offset : a.element.1.lexicographicallyPrecedes(b.element.1)
        }
        return kept.map { quarantine($0.element.0, $0.element.1, for: principal, at: now) } + [
            PostgresStatement(
                """
                WITH surplus AS (
                    DELETE FROM quarantine WHERE id IN (SELECT id FROM quarantine ORDER BY reason <> $3, last_seen, id
                        LIMIT greatest(0, (SELECT count(*) FROM quarantine) - $1)) RETURNING 1
                )
                UPDATE meta SET value = value + $2 + (SELECT count(*) FROM surplus)
                WHERE key = 'quarantine_dropped' AND $2 + (SELECT count(*) FROM surplus) > 0
                """, [.int(room), .int(max(0, lines.count - room)), .text(QuarantinedLine.Reason.delivered)])
        ]
    }

    private func quarantine(
        _ line: QuarantinedLine, _ identity: [UInt8], for principal: Principal, at now: Instant
    ) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO quarantine AS q (digest, principal, reason, type, namespace, client_table, record, bytes, count,
                first_seen, last_seen) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9)
            ON CONFLICT (digest) DO UPDATE SET count = q.count + 1, last_seen = greatest(q.last_seen, $9),
                principal = $2, bytes = $8
            """,
            [
                .bytes(identity), .text(remark(principal.rawValue)), .text(line.reason.rawValue),
                .text(line.type.map { remark($0) }), .text(line.namespace.map { remark($0) }),
                .text(line.table.map { remark($0) }), .text(line.id.map { remark($0, limit: 1_024) }),
                .bytes(Array(line.bytes.prefix(max(0, limits.quarantineBytes)))), .instant(now),
            ])
    }
}

extension QuarantineEntry {
    /// The columns that ``init(_:)`` reads.
    static let columns = """
        id, principal, reason, type, namespace, client_table, record, bytes, count, first_seen, last_seen,
            \(PostgresStatement.origin(of: "quarantine.principal"))
        """

    /// Reads a row of ``columns``; nil for a reason that a later version has written and this one does not know.
    init?(_ row: PostgresRow) throws {
        guard let reason = QuarantinedLine.Reason(rawValue: try row.text(2)) else { return nil }
        let line = QuarantinedLine(
            reason: reason, type: try row.optionalText(3), namespace: try row.optionalText(4),
            table: try row.optionalText(5), id: try row.optionalText(6), bytes: try row.bytes(7))
        try self.init(
            id: row.integer(0), line: line, principal: row.principal(1, origin: 11), count: Int(row.integer(8)),
            firstSeen: row.instant(9), lastSeen: row.instant(10))
    }
}

extension QuarantinedLine {
    /// The digest that two equal lines share: of reason, place and id, or of the bytes if no id could be read.
    fileprivate var identity: [UInt8] {
        var bytes: [UInt8] = []
        for part in [reason.rawValue, type, namespace, table, id] {
            // "-" stands for a missing part: no netstring begins with it.
            if let part { Netstrings.append(part.utf8, to: &bytes) } else { bytes.append(UInt8(ascii: "-")) }
        }
        if id == nil { Netstrings.append(self.bytes, to: &bytes) }
        return Array(SHA256.hash(data: bytes))
    }
}
