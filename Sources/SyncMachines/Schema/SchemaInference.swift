// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import SyncModel

/// Infers the schema version of a client that does not report it, from the names in its push.
///
/// A genuine client names every table of its schema in every push, empty ones too, and every column in every record
/// (WatermelonDB's `fetchLocalChanges`). So its version is at least the one in which the last of these came; a client
/// that names less counts as older than it is, and only gets additions again.
package struct SchemaInference: Hashable, Sendable {
    private let schema: Schema

    /// Creates an inference by this schema.
    package init(_ schema: Schema) { self.schema = schema }

    /// Returns the least version, from the oldest one on, that has all tables and columns which a push names.
    ///
    /// Names that are not in the configuration are ignored.
    ///
    /// - Parameters:
    ///   - tables: The pushed tables, ``PushedRecord/range`` being in `bytes`.
    ///   - bytes: The validated JSON that the records lie in.
    ///   - known: The client's known version; records are only read if they can raise it.
    /// - Returns: A version between the oldest, or what is known, and the newest.
    package func version(of tables: [PushedTable], in bytes: [UInt8], atLeast known: Int? = nil) -> Int {
        var version = max(schema.oldest, known ?? 0)
        let configured = Dictionary(schema.tables.map { ($0.name, $0) }) { first, _ in first }
        for pushed in tables {
            guard let table = configured[pushed.name] else { continue }
            version = max(version, table.since)
            raise(&version, by: pushed.created, of: table, in: bytes)
            raise(&version, by: pushed.updated, of: table, in: bytes)
        }
        return version
    }

    private func raise(_ version: inout Int, by records: [PushedRecord], of table: Table, in bytes: [UInt8]) {
        let newest = table.columns.lazy.map(\.since).max() ?? 0
        guard newest > version, !records.isEmpty else { return }
        var columns: [String: Int] = [:]
        for column in table.columns where column.since > version { columns[column.name] = column.since }
        bytes.withUnsafeBytes { bytes in
            // As a rule the first record names all; apps that push what was changed may need every one.
            for record in records where newest > version {
                guard bytes.indices.contains(record.range) else { continue }
                var scanner = JSONScanner(UnsafeRawBufferPointer(rebasing: bytes[record.range]), maximumDepth: .max)
                guard let object = try? scanner.value() else { continue }
                object.forEachMember { name, _ in
                    if let since = name.string.flatMap({ columns[$0] }) { version = max(version, since) }
                }
            }
        }
    }
}

extension Range<Int> {
    /// Returns true if a range lies in this one.
    fileprivate func contains(_ other: Range<Int>) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
