// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The line of a configuration that describes a column.
struct ColumnLine: CustomStringConvertible {
    let column: Column
    /// The attribute that is added; empty for none.
    var addition = ""

    var description: String {
        let type = column.type.rawValue + (column.isOptional ? "?" : "")
        let sources = column.sources.map(Self.text).joined(separator: " | ")
        let isOwn = column.sources == [.path(Path(name: column.name), types: [])]
        return
            ([column.name, "=", type] + (isOwn ? [] : [sources]) + attributes + (addition.isEmpty ? [] : [addition]))
            .joined(separator: " ")
    }

    private var attributes: [String] {
        var parts: [String] = []
        if column.since > 0 { parts.append("since \(column.since)") }
        if column.isReadonly { parts.append("readonly") }
        if column.isVersion { parts.append("version") }
        if let table = column.reference { parts.append("ref \(table)") }
        if column.isStrict { parts.append("strict") }
        if column.timestampFormat != .iso { parts.append("as \(column.timestampFormat.rawValue)") }
        if column.isSentAsNumber { parts.append("as number") }
        if let zone = column.zone { parts.append("zone \(zone.name)") }
        if column.isDecimal { parts.append("decimal") }
        if let words = column.words { parts.append("true \(Self.text(words.yes)) false \(Self.text(words.no))") }
        if let value = column.fallback { parts.append("default \(Self.text(value))") }
        if column.nestsJSON { parts.append("json") }
        if let rule = column.oneOf {
            parts.append(
                "oneof \(rule.allowed.map(Self.quoted).joined(separator: " ")) else \(Self.quoted(rule.fallback))")
        }
        if let length = column.maximumLength { parts.append("max \(length)") }
        if let path = column.sendPath { parts.append("send \(path)") }
        return parts
    }

    private static func text(_ source: Column.Source) -> String {
        switch source {
        case .path(let path, let types): types.isEmpty ? "\(path)" : "\(path) in \(types.joined(separator: " "))"
        case .lineType: "@type"
        case .literal(let literal): text(literal)
        }
    }

    /// Returns a value as a configuration has it.
    static func text(_ literal: Column.Literal) -> String {
        switch literal {
        case .string(let text): quoted(text)
        case .number(let number): Int64(exactly: number).map(String.init) ?? String(number)
        case .boolean(let value): String(value)
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
