// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A cursor that was handed out, and its standing in its replica's ledger.
///
/// A head is copied whenever one of its cursors changes; so what never changes of a cursor is shared by all copies.
package struct StoredCursor: Hashable, Sendable {
    private final class Shared: Sendable {
        let row: CursorRow

        init(_ row: CursorRow) { self.row = row }
    }

    /// The cursor.
    package var cursor: Cursor
    /// True once it has come back.
    package var isConfirmed: Bool
    /// The layer that it adds to the cursor below; nil for none.
    package var delta: LedgerLayer?
    /// The entries that the base had before its delta was compacted into it; nil for none, or if it is not in the base.
    package var undo: LedgerLayer?
    /// The cursor below; the cursor itself if it is in the base; nil if there is no ledger, or it is not known.
    package var below: Cursor?
    /// True if it is known exactly what the device holds with this cursor.
    package var isExact = false
    private var shared: Shared

    /// Creates the cursor of a row, which belongs to no other principal or replica than its head.
    init(_ row: CursorRow) {
        (cursor, isConfirmed) = (row.cursor, row.isConfirmed)
        var row = row
        (row.principal, row.cursor, row.replica) = (Principal(), .first, ReplicaID(rawValue: 0))
        row.isConfirmed = false
        shared = Shared(row)
    }

    /// The facts that were known when the cursor was handed out.
    var facts: CursorRow { shared.row }
    /// The cursor that was presented when it was made; nil for a first sync.
    package var parent: Cursor? {
        get { shared.row.parent }
        set {
            var row = shared.row
            row.parent = newValue
            shared = Shared(row)
        }
    }
    /// The vector from which the backend's stream goes on.
    package var vector: CheckpointVector { shared.row.vector }
    /// The schema version of the device's data; nil if it was never stated.
    package var schemaVersion: Int? { shared.row.schemaVersion }
    /// The session that it was made under.
    package var session: Session { shared.row.session }
    /// The number of the principal's notes when its stream began.
    package var noted: Int64 { shared.row.noted }
    /// The last full comparison of each request type.
    package var comparisons: [String: FullComparison] { shared.row.comparisons }

    /// Returns the cursor as its principal's pulls see it.
    package func row(of principal: Principal, _ replica: ReplicaID) -> CursorRow {
        var row = shared.row
        (row.principal, row.cursor, row.replica) = (principal, cursor, replica)
        row.isConfirmed = isConfirmed
        return row
    }

    /// Compares all parts; those that are shared only if they are not the same.
    package static func == (a: Self, b: Self) -> Bool {
        a.cursor == b.cursor && a.isConfirmed == b.isConfirmed && a.below == b.below && a.isExact == b.isExact
            && a.delta == b.delta && a.undo == b.undo && (a.shared === b.shared || a.facts == b.facts)
    }

    /// Hashes the cursor, which no other one of its replica has.
    package func hash(into hasher: inout Hasher) { hasher.combine(cursor) }
}

extension [StoredCursor] {
    /// Returns the index of a cursor, among those in their order.
    func index(of cursor: Cursor) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].cursor < cursor { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].cursor == cursor ? low : nil
    }
}
