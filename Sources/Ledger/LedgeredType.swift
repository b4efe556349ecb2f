// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A request type as the ledger sees it: what a comparison of everything that it brings is about.
package struct LedgeredType: Hashable, Sendable {
    /// A table that it fills, and as which of the table's sources.
    package struct Part: Hashable, Sendable {
        /// The table's name.
        package var table: String
        /// The index of the feed in the table.
        package var source: Int
        /// Creates a part.
        package init(table: String, source: Int) {
            self.table = table
            self.source = source
        }
    }

    /// The tables that it fills.
    package var parts: [Part] = []
    /// The namespaces of its upserts; without their tokens the backend streams every row that is there, and if a
    /// vector has none of them it does so anyway.
    ///
    /// Those of its deletions stay: a deleted record is found by its absence, and an old deletion that comes again
    /// would count as a repair, and delete records that have become its record's children since.
    package var namespaces: Set<String> = []
    /// The types that clients of other versions request instead.
    package var others: Set<String> = []
    /// The mappings of its tables, with a plus between them.
    package var mapping = ""

    /// Returns the comparisons in the cursor's row of these types, or of those that they have replaced in a new version
    /// of the client: these are due, but what the device holds is known.
    ///
    /// The other types were never compared, or some of their tables were without a ledger since.
    package static func known(_ types: [String: LedgeredType], of row: CursorRow) -> [String: FullComparison] {
        types.reduce(into: [:]) { known, type in
            if let comparison = row.comparisons[type.key], type.value.hasTables(of: comparison) {
                known[type.key] = comparison
            } else if type.value.others.contains(where: { row.comparisons[$0].map(type.value.hasTables) ?? false }) {
                known[type.key] = FullComparison(doneAt: 0, mapping: type.value.mapping)
            }
        }
    }

    /// Returns true if the comparison was about as many tables.
    private func hasTables(of comparison: FullComparison) -> Bool {
        !comparison.isTracked || comparison.mapping.utf8.count { $0 == UInt8(ascii: "+") } == parts.count - 1
    }

    /// Returns all request types that fill a table with a ledger for clients of a schema version.
    package static func all(
        in tables: [Table], at schemaVersion: Int, digests: [String: String]
    ) -> [String: LedgeredType] {
        var types: [String: LedgeredType] = [:]
        for table in tables where table.isLedgered {
            for (source, feed) in table.feeds.enumerated() {
                guard let requested = feed.version(at: schemaVersion) else { continue }
                var type = types[requested.requestType] ?? LedgeredType()
                type.parts.append(Part(table: table.name, source: source))
                type.namespaces.formUnion(table.upserts.filter { table.source(of: $0) == source })
                type.others.formUnion(feed.versions.map(\.requestType).filter { $0 != requested.requestType })
                let digest = digests[table.name] ?? ""
                type.mapping += type.mapping.isEmpty ? digest : "+" + digest
                types[requested.requestType] = type
            }
        }
        return types
    }
}
