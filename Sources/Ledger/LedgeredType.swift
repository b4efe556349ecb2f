// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A request type as the ledger sees it: the subject of a comparison of everything that the type brings.
package struct LedgeredType: Hashable, Sendable {
    /// A table that the type fills, and the index of the type's feed in the table.
    package struct Part: Hashable, Sendable {
        /// The table's name.
        package var table: String
        /// The index of the feed in the table.
        package var feed: Int
        /// Creates a part.
        package init(table: String, feed: Int) {
            self.table = table
            self.feed = feed
        }
    }

    /// The tables that the type fills.
    package var parts: [Part] = []
    /// The namespaces of the type's upserts: if they are forgotten, the backend streams every row that exists, as it
    /// does if a vector has none of them.
    ///
    /// The namespaces of its deletions stay: a row that is gone is recognized by its absence, and an old deletion that
    /// came again would count as a repair, and take along records that have become children of the deleted one since.
    package var namespaces: Set<String> = []
    /// The request types that clients of other schema versions request instead.
    package var others: Set<String> = []
    /// The digests of its tables' mappings, joined with plus signs.
    package var mapping = ""

    /// Returns the comparisons that the cursor's row has for these types.
    ///
    /// If a type has replaced another one with a new version of the client, it gets the comparison of a type that is
    /// due: what the device holds is known.
    ///
    /// The types that are left out were never compared, or some of their tables were without a ledger since.
    package static func known(_ types: [String: LedgeredType], of row: CursorRow) -> [String: FullComparison] {
        types.reduce(into: [:]) { known, type in
            if let comparison = row.comparisons[type.key], type.value.hasTables(of: comparison) {
                known[type.key] = comparison
            } else if type.value.others.contains(where: { row.comparisons[$0].map(type.value.hasTables) ?? false }) {
                known[type.key] = FullComparison(
                    doneAt: 0, mapping: type.value.mapping,
                    hasDefaults: type.value.others.contains { row.comparisons[$0]?.hasDefaults == true })
            }
        }
    }

    /// Returns true if the comparison covered as many tables as the type fills now, or if none was ever complete.
    private func hasTables(of comparison: FullComparison) -> Bool {
        !comparison.isTracked || comparison.mapping.utf8.count { $0 == UInt8(ascii: "+") } == parts.count - 1
    }

    /// Returns all request types that serve clients of a schema version and that fill a table with a ledger.
    package static func all(
        in tables: [Table], at schemaVersion: Int, digests: [String: String]
    ) -> [String: LedgeredType] {
        var types: [String: LedgeredType] = [:]
        for table in tables where table.isLedgered {
            for (index, feed) in table.feeds.enumerated() {
                guard let requested = feed.version(at: schemaVersion) else { continue }
                var type = types[requested.requestType] ?? LedgeredType()
                type.parts.append(Part(table: table.name, feed: index))
                type.namespaces.formUnion(table.upserts.filter { table.feed(of: $0) == index })
                type.others.formUnion(feed.versions.map(\.requestType).filter { $0 != requested.requestType })
                let digest = digests[table.name] ?? ""
                type.mapping += type.mapping.isEmpty ? digest : "+" + digest
                types[requested.requestType] = type
            }
        }
        return types
    }
}
