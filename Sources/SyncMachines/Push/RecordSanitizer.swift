// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// Turns a pushed record into what the backend takes: whitelisted columns, repaired values, the backend's types.
///
/// What is slightly wrong is repaired and counted, never refused: a client sends the same record again on every sync,
/// so a refusal would stop it for good (push rules 8, 9 and 10).
package struct RecordSanitizer: Sendable {
    private let table: Table
    private let depth: Int

    /// Creates a sanitizer for the records of one table; `depth` limits the nesting of `json` columns.
    package init(table: Table, depth: Int = 64) {
        self.table = table
        self.depth = depth
    }

    /// Takes the object that the client sent.
    package func sanitize(_ record: JSONValue) -> SanitizedRecord {
        var result = SanitizedRecord()
        let members = record.members ?? []
        var known = 0
        for column in table.columns {
            // A name stands once in a parsed object.
            guard let sent = members.first(where: { $0.name == column.name })?.value else { continue }
            known += 1
            guard !column.isReadonly || column.isVersion else { continue }
            let value = convert(sent, for: column)
            if column.isVersion { result.version = value.value }
            guard !column.isReadonly else { continue }
            if value.isRepaired { result.repaired.append(column.name) }
            result.values.append((column, value.value))
        }
        // WatermelonDB's own bookkeeping: names with commas between them, empty where nothing is known.
        for member in members where ["id", "_status", "_changed"].contains(member.name) {
            known += 1
            guard member.name == "_changed", let names = member.value.string, !names.isEmpty else { continue }
            result.changed = Set(names.split(separator: ",").map(String.init))
        }
        result.dropped = members.count - known
        return result
    }

    private func convert(_ sent: JSONValue, for column: Column) -> (value: JSONValue, isRepaired: Bool) {
        if sent.isNull, column.isOptional { return (.null, false) }
        switch column.type {
        case .string: return text(sent, for: column)
        case .number:
            guard let number = sent.number, number.double != nil else { return (fallback(.integer(0), column), true) }
            return (sent, false)
        case .boolean:
            if sent.bool != nil { return (sent, false) }
            // SQLite has no booleans: clients may hold them as 1 and 0.
            if let number = sent.double, number == 0 || number == 1 { return (.bool(number == 1), false) }
            return (fallback(.bool(false), column), true)
        case .timestamp:
            guard let number = sent.double, let milliseconds = Int64(exactly: number.rounded(.towardZero)) else {
                return (fallback(timestamp(0, column.timestampFormat), column), true)
            }
            return (timestamp(milliseconds, column.timestampFormat), false)
        case .json: return nested(sent, for: column)
        }
    }

    private func text(_ sent: JSONValue, for column: Column) -> (JSONValue, Bool) {
        guard let text = sent.string else { return (fallback(.string(column.oneOf?.fallback ?? ""), column), true) }
        if let rule = column.oneOf, !rule.allowed.contains(text) { return (.string(rule.fallback), true) }
        // NUL is refused by many databases; genuine clients can hold it.
        let hasNUL = text.utf8.contains(0)
        let limit = column.maximumLength ?? .max
        // As few bytes cannot be more scalars.
        let isLong = text.utf8.count > limit && text.unicodeScalars.count > limit
        guard hasNUL || isLong else { return (sent, false) }
        let repaired = text.unicodeScalars.prefix(limit).map { $0.value == 0 ? "\u{FFFD}" : $0 }
        return (.string(String(String.UnicodeScalarView(repaired))), true)
    }

    private func nested(_ sent: JSONValue, for column: Column) -> (JSONValue, Bool) {
        guard let text = sent.string else { return (sent, false) }
        if text.isEmpty { return (.null, false) }
        guard
            let value = try? JSONValue.parse(
                text, limits: JSONValue.Limits(bytes: text.utf8.count, depth: 512, elements: text.utf8.count))
        else {
            return (fallback(.null, column), true)
        }
        return (value, false)
    }

    private func fallback(_ value: JSONValue, _ column: Column) -> JSONValue { column.isOptional ? .null : value }

    private func timestamp(_ milliseconds: Int64, _ format: Column.TimestampFormat) -> JSONValue {
        switch format {
        case .millis: .integer(milliseconds)
        case .seconds: .integer(milliseconds / 1_000 - (milliseconds % 1_000 < 0 ? 1 : 0))
        case .iso: .string(ISO8601.text(milliseconds: milliseconds))
        }
    }
}
