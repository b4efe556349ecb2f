// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import DemoBackend
import JSONBytes
import LineProjection

/// The expected form of the backend's records on a device; computed without any of the gateway's mapping.
package enum StackOracle {
    /// Returns the records that a user sees, as a client of a schema version should hold them.
    package static func contents(
        of backend: DemoBackend, for user: String, schema: ClientSchema, version: Int
    ) async throws -> [String: [String: [String: ClientValue]]] {
        let records = try await backend.records(of: user)
        var contents: [String: [String: [String: ClientValue]]] = [:]
        for table in schema.tables(at: version) {
            contents[table.name] = try (records[table.name] ?? [:]).mapValues { record in
                var values: [String: ClientValue] = [:]
                for column in table.columns(at: version) {
                    values[column.name] = try value(of: record[member(of: column)], column)
                }
                return values
            }
        }
        return contents
    }

    /// Returns the differences of two databases, a line for each record.
    package static func differences(
        _ client: [String: [String: [String: ClientValue]]], _ backend: [String: [String: [String: ClientValue]]]
    ) -> [String] {
        var lines: [String] = []
        for table in Array(client.keys) + backend.keys.filter({ client[$0] == nil }) {
            let (own, theirs) = (client[table] ?? [:], backend[table] ?? [:])
            for (id, record) in own {
                guard let other = theirs[id] else {
                    lines.append("\(table)#\(id) is on the device only")
                    continue
                }
                let columns = record.keys.filter { record[$0] != other[$0] }.sorted()
                let values = columns.map { "\($0) is \(text(record[$0])) for \(text(other[$0]))" }
                if !columns.isEmpty { lines.append("\(table)#\(id): \(values.joined(separator: ", "))") }
            }
            lines += theirs.keys.filter { own[$0] == nil }.map { "\(table)#\($0) is in the backend only" }
        }
        return lines.sorted()
    }

    /// Milliseconds since 1970 of a date as the backend writes it; nil where it is none.
    package static func milliseconds(ofISO text: String) -> Double? {
        Array(text.utf8).withUnsafeBytes { ISOTimestamp.milliseconds(of: $0) }.map(Double.init)
    }

    /// Returns the backend's name of a column: `isDone` for `is_done`.
    private static func member(of column: ClientSchema.Column) -> String {
        let words = column.name.split(separator: "_")
        return words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    private static func value(of member: DemoValue?, _ column: ClientSchema.Column) throws -> ClientValue {
        // Ids are text to a client, and so are references to them.
        if column.kind == .string, case .number? = member { return .string(member?.json ?? "") }
        let json = try JSONValue.parse(
            (member ?? .null).json, limits: JSONValue.Limits(bytes: 1 << 24, depth: 64, elements: 1 << 20))
        if column.kind == .number, let text = json.string {
            return milliseconds(ofISO: text).map { .number($0) } ?? .null
        }
        return ClientValue(sanitising: json, as: column)
    }

    private static func text(_ value: ClientValue?) -> String {
        value.map { String(decoding: $0.json.serialised, as: UTF8.self) } ?? "nothing"
    }
}

extension ClientSchema {
    /// The schema of the quickstart example: that of the recordings, and labels on tasks.
    package static let quickstart: ClientSchema = {
        var schema = ClientSchema.recorded
        schema.tables.append(
            Table(
                "task_tags", since: 3,
                columns: [Column("task_id", .string, since: 3), Column("tag_id", .string, since: 3)]))
        return schema
    }()
}
