// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A value of a copied row.
package enum CopiedValue: Hashable, Sendable {
    case null
    /// A number; a truth value is 0 or 1.
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// The values of one row, in the order of its table's columns.
package typealias CopiedRow = [CopiedValue]

/// A state from which another one is copied, and that no gateway uses meanwhile.
package protocol CopySource: Sendable {
    /// The location without secrets, for the operator.
    var location: String { get }

    /// Releases the state.
    func close() async

    /// Returns the rows after a key, in the order of their keys, at most `limit`.
    func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) async throws -> [CopiedRow]

    /// Returns the greatest number that a table's store has given so far; 0 for none.
    func numbers(of table: CopiedTable) async throws -> Int64
}

/// A state that is filled with the rows of another one.
package protocol CopyTarget: CopySource {
    /// Returns what is in it; rows that gateways need count, the tables of the schema do not.
    func standing() async throws -> CopyStanding

    /// Notes that the copy is unfinished: no gateway and no command opens the state until the mark is removed.
    func mark() async throws

    /// Returns the greatest key of a table; nil if it is empty.
    func lastKey(of table: CopiedTable) async throws -> CopiedRow?

    /// Adds rows in one transaction, durably.
    func add(_ rows: [CopiedRow], to table: CopiedTable) async throws

    /// Makes a table's store go on with the number after this one.
    func setNumbers(of table: CopiedTable, to number: Int64) async throws

    /// Checks that no row names another that is not there, and removes the mark.
    func finish() async throws
}

/// The contents of a target.
package enum CopyStanding: Hashable, Sendable {
    /// No rows.
    case empty
    /// The rows of a copy that was interrupted.
    case unfinished
    /// Rows that are no unfinished copy.
    case inUse
}
