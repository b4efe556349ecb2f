// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The records that a quarantined line may have been about, which must not be deleted for absence.
///
/// A record whose line cannot be read exists at the backend all the same (finding 13).
package enum QuarantineScope: Hashable, Sendable {
    /// This record of a table, by the table's index in the schema, and the index of the line's feed in the table.
    case record(table: Int, feed: Int, id: IDHash)
    /// Any record of a table, by its index in the schema: the line carries one of them, but which one is unknown.
    case table(Int)
    /// Any record of any table: not even the type can be read, or records of several tables are in the line.
    case everything
    /// No record that a client can hold: a delete line, a type that no table takes, an id that clients cannot have.
    case nothing
}
