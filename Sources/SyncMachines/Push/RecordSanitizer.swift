// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
import LineProjection
package import SyncModel

/// Turns a pushed record into what the backend takes: whitelisted columns, repaired values, the backend's types.
///
/// What is slightly wrong is repaired and counted, never refused: a client sends the same record again on every sync,
/// so a refusal would stop it for good (push rules 8, 9 and 10).
package struct RecordSanitizer: Sendable {
    private let columns: [OutgoingColumn]
    private let names: NameTable
    private let fallbacks: [String: JSONValue]

    /// Creates a sanitizer for the records of one table.
    package init(table: Table) {
        columns = table.columns.map(OutgoingColumn.init)
        names = NameTable(table.columns.map(\.name))
        fallbacks = Dictionary(columns.map { ($0.column.name, $0.fallback) }) { first, _ in first }
    }

    /// Takes the object that the client sent.
    package func sanitize(_ record: JSONSlice) -> SanitizedRecord {
        var result = SanitizedRecord()
        var sent = [JSONSlice?](repeating: nil, count: columns.count)
        record.forEachMember { name, value in
            let index = names.index(of: name)
            if index >= 0 {
                sent[index] = value
            } else if name.equals("_changed" as StaticString) {
                // WatermelonDB's own bookkeeping: names with commas between them, empty where nothing is known.
                guard let names = value.string, !names.isEmpty else { return }
                result.changed = Set(names.split(separator: ",").map(String.init))
            } else if !name.equals("id" as StaticString), !name.equals("_status" as StaticString) {
                result.dropped += 1
            }
        }
        for (column, slice) in zip(columns, sent) {
            guard let slice, !column.column.isReadonly || column.column.isVersion else { continue }
            let value = column.value(of: slice)
            if column.column.isVersion { result.version = value.value }
            guard !column.column.isReadonly else { continue }
            if value.isRepaired { result.repaired.append(column.column.name) }
            result.values.append((column.column, value.value))
        }
        return result
    }

    /// Takes the object that a client would send.
    package func sanitize(_ record: JSONValue) -> SanitizedRecord {
        record.serialised.withUnsafeBytes { bytes in
            (try? JSONScanner.document(bytes, maximumDepth: .max)).map(sanitize) ?? SanitizedRecord()
        }
    }

    /// Returns a record without the columns that hold their default and that the client does not say it has changed.
    ///
    /// It is for a record that went out with a default in place of a value that could not be read: the default must not
    /// overwrite the value.
    package func withoutDefaults(_ record: SanitizedRecord) -> SanitizedRecord {
        let changed = record.changed ?? []
        var record = record
        record.values.removeAll { column, value in
            guard !changed.contains(column.name), isDefault(value, of: column) else { return false }
            record.withheld.append(column.name)
            return true
        }
        // A version that could not be read is unknown: sent as it is, it would conflict for ever.
        if let version = record.version, let column = columns.first(where: \.column.isVersion)?.column,
            isDefault(version, of: column)
        {
            record.version = nil
        }
        return record
    }

    private func isDefault(_ value: JSONValue, of column: Column) -> Bool {
        guard let fallback = fallbacks[column.name] else { return false }
        return value == fallback || value.double.map { $0 == fallback.double } ?? false
    }
}
