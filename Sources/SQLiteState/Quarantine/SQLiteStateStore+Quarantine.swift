// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
import SyncModel

extension SQLiteStateStore {
    /// Returns lines by the index of the times, newest first.
    package func quarantined(limit: Int) async throws -> [QuarantineEntry] {
        try await read { db in
            try db.rows(
                "SELECT \(QuarantineEntry.columns) FROM quarantine ORDER BY last_seen DESC, id DESC LIMIT ?",
                [min(max(0, limit), 10_000)]
            ).compactMap { try QuarantineEntry($0) }
        }
    }

    /// Counts along the index of the reasons.
    package func quarantineCounts() async throws -> QuarantineCounts {
        try await read { db in
            var counts = QuarantineCounts()
            for row in try db.rows("SELECT reason, count(*) FROM quarantine GROUP BY reason") {
                let number = Int(try row.integer(1))
                counts.entries += number
                if let reason = try QuarantinedLine.Reason(rawValue: row.text(0)) { counts.byReason[reason] = number }
            }
            counts.dropped = Int(try db.integer("SELECT value FROM meta WHERE key = 'quarantine_dropped'") ?? 0)
            return counts
        }
    }
}

extension QuarantineEntry {
    /// The columns that ``init(_:)`` reads.
    static let columns = """
        id, principal, reason, type, namespace, client_table, record, bytes, count, first_seen, last_seen,
            (SELECT user_digest FROM principal p WHERE p.digest = quarantine.principal),
            (SELECT scope FROM principal p WHERE p.digest = quarantine.principal)
        """

    /// Reads a row of ``columns``; nil for a reason that a later version has written and this one, after a downgrade,
    /// does not know.
    init?(_ row: StoredRow) throws {
        guard let reason = try QuarantinedLine.Reason(rawValue: row.text(2)) else { return nil }
        let line = try QuarantinedLine(
            reason: reason, type: row.optionalText(3), namespace: row.optionalText(4),
            table: row.optionalText(5), id: row.optionalText(6), bytes: row.bytes(7))
        try self.init(
            id: row.integer(0), line: line, principal: row.principal(1, origin: 11), count: Int(row.integer(8)),
            firstSeen: row.instant(9), lastSeen: row.instant(10))
    }
}

extension Database {
    /// Keeps lines that could not be delivered; a line that is known already is only counted.
    func quarantine(
        _ lines: [QuarantinedLine], for principal: Principal, at now: Instant, _ limits: StateLimits
    ) throws {
        guard !lines.isEmpty else { return }
        let room = max(1, limits.quarantineEntries)
        for line in lines.prefix(room) { try quarantine(line, for: principal, at: now, limits.quarantineBytes) }
        let surplus = max(0, Int(try integer("SELECT count(*) FROM quarantine") ?? 0) - room)
        if surplus > 0 {
            try run(
                """
                DELETE FROM quarantine WHERE id IN
                    (SELECT id FROM quarantine ORDER BY reason <> ?2, last_seen, id LIMIT ?1)
                """, [surplus, QuarantinedLine.Reason.delivered])
        }
        let dropped = surplus + max(0, lines.count - room)
        guard dropped > 0 else { return }
        try run("UPDATE meta SET value = value + ? WHERE key = 'quarantine_dropped'", [dropped])
    }

    private func quarantine(
        _ line: QuarantinedLine, for principal: Principal, at now: Instant, _ limit: Int
    ) throws {
        try run(
            """
            INSERT INTO quarantine (digest, principal, reason, type, namespace, client_table, record, bytes, count,
                first_seen, last_seen) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9, ?9)
            ON CONFLICT (digest) DO UPDATE SET count = count + 1, last_seen = max(last_seen, ?9), principal = ?2,
                bytes = ?8
            """,
            [
                Data(line.identity), remark(principal.rawValue), line.reason.rawValue, line.type.map { remark($0) },
                line.namespace.map { remark($0) }, line.table.map { remark($0) },
                line.id.map { remark($0, limit: 1_024) }, Data(line.bytes.prefix(max(0, limit))), now,
            ])
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
        return digest(of: bytes)
    }
}
