// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the records to which the backend has given ids are called by one device: by the ids that clients have made for
/// them, but for those that the device goes on calling by the backend's (finding 21).
package struct IDAliases: Sendable {
    private struct Name: Hashable {
        let table: Int
        let id: [UInt8]
    }

    private let ids: PackedIDs
    private let kept: Set<Name>

    /// Aliases of one device.
    ///
    /// - Parameters:
    ///   - ids: The clients' ids by the backend's, each by the place of its table in the schema.
    ///   - kept: What the device calls by the backend's ids.
    ///   - schema: The configuration.
    package init(_ ids: PackedIDs, keeping kept: Set<VisibleIDs.Kept> = [], schema: Schema) {
        self.ids = ids
        self.kept = Set(
            kept.compactMap { record in
                schema.tables.firstIndex { $0.name == record.table }.map { Name(table: $0, id: Array(record.id.utf8)) }
            })
    }

    /// Calls `body` with the id by which the device knows a record of the backend; nil where that is the backend's.
    package func withAlias<R>(
        of id: UnsafeRawBufferPointer, table: Int, _ body: (UnsafeRawBufferPointer?) -> R
    ) -> R {
        ids.withValue(table: table, id: id) { alias in
            if alias != nil, !kept.isEmpty, kept.contains(Name(table: table, id: Array(id))) { return body(nil) }
            return body(alias)
        }
    }
}
