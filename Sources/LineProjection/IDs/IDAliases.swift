// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The ids by which one device knows the records that have an id from the backend.
///
/// A client's own id is used, except for the records that the device still knows by the backend's id (finding 21).
package struct IDAliases: Sendable {
    private struct Name: Hashable {
        let table: Int
        let id: [UInt8]
    }

    private let ids: PackedIDs
    private let kept: Set<Name>

    /// Creates the aliases of one device.
    ///
    /// - Parameters:
    ///   - ids: The clients' ids by the backend's, each by the index of its table in the schema.
    ///   - kept: The records that the device knows by the backend's ids.
    ///   - schema: The configuration.
    package init(_ ids: PackedIDs, keeping kept: Set<VisibleIDs.Entry> = [], schema: Schema) {
        self.ids = ids
        self.kept = Set(
            kept.compactMap { record in
                schema.tables.firstIndex { $0.name == record.table }.map { Name(table: $0, id: Array(record.id.utf8)) }
            })
    }

    /// Calls `body` with the id by which the device knows a record of the backend; nil if that is the backend's id.
    package func withAlias<R>(
        of id: UnsafeRawBufferPointer, table: Int, _ body: (UnsafeRawBufferPointer?) -> R
    ) -> R {
        ids.withValue(table: table, id: id) { alias in
            if alias != nil, !kept.isEmpty, kept.contains(Name(table: table, id: Array(id))) { return body(nil) }
            return body(alias)
        }
    }
}
