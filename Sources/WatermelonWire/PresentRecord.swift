// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// The backend's present state of a record that a 409 names.
package struct PresentRecord: Hashable, Sendable {
    /// The client's name for the table.
    package var table: String
    /// The id that the client uses.
    package var id: String
    /// The record as a pull would bring it, one JSON object; nil if it is deleted.
    package var json: [UInt8]?

    /// Creates a record.
    package init(table: String, id: String, json: [UInt8]?) {
        self.table = table
        self.id = id
        self.json = json
    }

    /// Appends an object with one member for each table: an object of its records by id, with `null` for deleted ones.
    ///
    /// Tables come in the order in which they first appear in the list.
    static func append(_ records: [PresentRecord], to writer: inout JSONWriter) {
        var tables: [String] = []
        for record in records where !tables.contains(record.table) { tables.append(record.table) }
        writer.append(raw: "{")
        for (index, table) in tables.enumerated() {
            if index > 0 { writer.append(raw: ",") }
            writer.append(name: table)
            writer.append(raw: "{")
            for (index, record) in records.filter({ $0.table == table }).enumerated() {
                if index > 0 { writer.append(raw: ",") }
                writer.append(name: record.id)
                if let json = record.json { writer.append(raw: json) } else { writer.append(raw: "null") }
            }
            writer.append(raw: "}")
        }
        writer.append(raw: "}")
    }
}
