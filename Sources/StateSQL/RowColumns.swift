// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore

/// The columns of one row of a result; one that holds what it cannot hold throws.
package protocol RowColumns {
    /// Returns an integer.
    func integer(_ index: Int) throws -> Int64

    /// Returns bytes, or nil for NULL.
    func optionalBytes(_ index: Int) throws -> [UInt8]?
}

extension ByteRow {
    /// Reads what a ``RowStatement`` has found.
    package init(_ columns: some RowColumns) throws {
        guard let kind = RowKind(rawValue: UInt8(clamping: try columns.integer(1))) else { throw Coder.damage }
        let (owner, number) = (try columns.integer(0), try columns.integer(4))
        let key =
            switch kind.table {
            case .principal: RowKey(kind, of: owner)
            case .replica, .cursor, .chunk: RowKey(kind, of: owner, number: number)
            case .entry: RowKey(kind, of: owner, try columns.optionalBytes(2) ?? [])
            }
        self.init(
            key: key, version: try columns.integer(3), number: number, rank: try columns.integer(5),
            bytes: try columns.optionalBytes(6) ?? [])
    }
}
