// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Compares records by what they say and not by their ids, which a backend may have made.
package struct ContentOracle: Sendable {
    /// Records by table and id.
    package typealias Tables = [String: [String: [String: ClientValue]]]

    /// The column by table that tells records apart; a test gives every record a value of its own.
    package var names: [String: String]
    /// The target of a reference, by table and column.
    package var references: [String: [String: String]]

    /// Creates an oracle of these tables.
    package init(names: [String: String], references: [String: [String: String]] = [:]) {
        self.names = names
        self.references = references
    }

    /// Returns the records that one side has more often than the other, a line for each, and those that are there
    /// twice.
    ///
    /// References are replaced by the names of their records, so that each side can have its own ids.
    package func differences(_ client: Tables, _ backend: Tables) -> [String] {
        var lines: [String] = []
        for table in names.keys.sorted() {
            var counts: [String: Int] = [:]
            for text in texts(of: table, in: client) { counts[text, default: 0] += 1 }
            for text in texts(of: table, in: backend) { counts[text, default: 0] -= 1 }
            for (text, count) in counts where count != 0 {
                lines.append("\(table) \(text): \(abs(count)) more \(count > 0 ? "on the device" : "in the backend")")
            }
        }
        return (lines + doubles(in: client, "on the device") + doubles(in: backend, "in the backend")).sorted()
    }

    /// Returns the names of a table's records; a name that comes more than once is a record that is there twice.
    ///
    /// Only the text before the first space counts as the name.
    package func names(of table: String, in tables: Tables) -> [String] {
        (tables[table] ?? [:]).values.map { name(of: $0, table) }
    }

    private func doubles(in tables: Tables, _ whose: String) -> [String] {
        names.keys.flatMap { table in
            Dictionary(grouping: names(of: table, in: tables)) { $0 }.filter { $0.value.count > 1 }
                .map { "\(table) \($0.key): \($0.value.count) times \(whose)" }
        }
    }

    private func texts(of table: String, in tables: Tables) -> [String] {
        (tables[table] ?? [:]).values.map { record in
            record.sorted { $0.key < $1.key }.map { column, value in
                "\(column)=\(text(of: value, references[table]?[column], tables))"
            }.joined(separator: " ")
        }
    }

    private func text(of value: ClientValue, _ target: String?, _ tables: Tables) -> String {
        if let target, case .string(let id) = value, !id.isEmpty {
            return tables[target]?[id].map { "(\(name(of: $0, target)))" } ?? "(gone)"
        }
        return String(decoding: value.json.serialised, as: UTF8.self)
    }

    private func name(of record: [String: ClientValue], _ table: String) -> String {
        guard let column = names[table], case .string(let text)? = record[column] else { return "" }
        return String(text.prefix { $0 != " " })
    }
}
