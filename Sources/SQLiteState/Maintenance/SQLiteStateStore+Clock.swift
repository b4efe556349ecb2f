// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Accepts a clock that is behind the state: from the next opening on, cursors are ahead of it by the returned
    /// lead.
    ///
    /// The lead is kept for ever, so cursors remain times, only of another clock. If cursors were counted on from the
    /// newest one instead, a backup of the state that is restored later would hand out the same numbers again. Contacts
    /// that were recorded in the future are set to now.
    ///
    /// - Parameter now: The clock.
    /// - Returns: The lead.
    /// - Throws: ``StateError``.
    package func acceptClock(at now: Instant) async throws -> Int64 {
        let newest = try await newestCursor()?.time ?? 0
        return try await write { db in
            let lead = max(try db.cursorLead(), newest.milliseconds(since: now) + 1)
            try db.run(
                "INSERT INTO meta (key, value) VALUES ('cursor_lead', ?) ON CONFLICT (key) DO UPDATE SET value = ?",
                [lead, lead])
            for table in ["principal", "session", "replica"] {
                try db.run("UPDATE \(table) SET last_seen = ? WHERE last_seen > ?", [now, now])
            }
            return lead
        }
    }
}

extension Database {
    func cursorLead() throws -> Int64 {
        try integer("SELECT value FROM meta WHERE key = 'cursor_lead'") ?? 0
    }
}
