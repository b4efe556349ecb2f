// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A request type as the ledger sees it: what a comparison of everything that it brings is about.
package struct LedgeredType: Hashable, Sendable {
    /// A table that it fills, and as which of the table's sources.
    package struct Part: Hashable, Sendable {
        /// The table's name.
        package var table: String
        /// The place of the feed in the table.
        package var source: Int
        /// A part.
        package init(table: String, source: Int) {
            self.table = table
            self.source = source
        }
    }

    /// The tables that it fills.
    package var parts: [Part] = []
    /// The namespaces of its upserts; forgetting them makes the backend stream every row that is there, and where a
    /// vector has none of them it does so anyway.
    ///
    /// Those of its deletions stay: what is gone is known by its absence, and an old deletion that comes again would
    /// count as a repair, and take along what has come to hang on its record since.
    package var namespaces: Set<String> = []
    /// What clients of other versions ask for instead.
    package var others: Set<String> = []
    /// The mappings of its tables, with a plus between them.
    package var mapping = ""

    /// What the cursor's row says of these types, or of those in whose place they have come with a new version of the
    /// client: these are due, but what the device holds is known.
    ///
    /// The others were never compared, or some of their tables were without a ledger since.
    package static func known(_ types: [String: LedgeredType], of row: CursorRow) -> [String: FullComparison] {
        types.reduce(into: [:]) { known, type in
            if let comparison = row.comparisons[type.key], type.value.hasTables(of: comparison) {
                known[type.key] = comparison
            } else if type.value.others.contains(where: { row.comparisons[$0].map(type.value.hasTables) ?? false }) {
                known[type.key] = FullComparison(doneAt: 0, mapping: type.value.mapping)
            }
        }
    }

    /// Whether it was about as many tables.
    private func hasTables(of comparison: FullComparison) -> Bool {
        !comparison.isTracked || comparison.mapping.utf8.count { $0 == UInt8(ascii: "+") } == parts.count - 1
    }

    /// All request types that clients of a schema version are served from and that fill a table with a ledger.
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
