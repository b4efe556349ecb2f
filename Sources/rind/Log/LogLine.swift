// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import Logging
import SyncModel

/// One event as a line of bytes, its end included.
struct LogLine {
    var time: Instant
    var level: Logger.Level
    var message: String
    var fields: Logger.Metadata

    /// Fields that count something, and so are numbers in JSON even where they were logged as text.
    ///
    /// Names are not among them, even if they look like numbers: a replica may have digits only.
    private static let numbers: Set = [
        "absent", "after", "allowed", "applied", "backend_bytes", "backend_calls", "backend_status", "before", "bytes",
        "bytes_out",
        "column", "conflicts", "connections", "count", "cursor", "deletions", "descendants", "dropped", "duration_ms",
        "echoes", "equal", "exit_status", "failures", "found", "from", "generation", "held_back", "in_flight",
        "journal",
        "layers", "limit", "line", "lines", "lines_kept", "lost", "needed", "operations", "port", "presented",
        "quarantined", "records", "refused", "repaired", "repairs", "resumes", "seconds", "status", "superseded", "to",
        "tries", "unknown_types", "unseen",
    ]
    /// Fields that are true or false.
    private static let truths: Set = ["cut", "has_time"]

    /// The format for reading: time, level, message and the fields in alphabetical order, always on one line.
    ///
    /// `2026-11-21T08:37:15.123Z info  request  code=200 path=/sync`
    var text: [UInt8] {
        var line = ""
        line.reserveCapacity(768)
        line += "\(TimeText.utc(time)) \(level.rawValue.padded(to: 8))"
        line += Self.escaped(message)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            line += " "
            line += Self.escaped(name)
            line += "="
            line += Self.quoted(value.description)
        }
        line += "\n"
        return Array(line.utf8)
    }

    /// The format for programs: one JSON object; `time`, `level` and `message` come first, fields of these names get a
    /// `_`.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.append(raw: #"{"time":"#)
        writer.append(string: TimeText.utc(time))
        writer.append(raw: #","level":"#)
        writer.append(string: level.rawValue)
        writer.append(raw: #","message":"#)
        writer.append(string: message)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            writer.append(raw: ",")
            writer.append(name: ["time", "level", "message"].contains(name) ? "_" + name : name)
            Self.append(value, named: name, to: &writer)
        }
        writer.append(raw: "}\n")
        return ForeignText.escapedJSON(writer.bytes)
    }

    private static func append(_ value: Logger.MetadataValue, named name: String, to writer: inout JSONWriter) {
        if case .string(let text) = value {
            // Each table has a count of its own.
            let isNumber = numbers.contains(name) || name.hasPrefix("conflicts.") || name.hasSuffix("_ms")
            if isNumber, let number = Int64(text), String(number) == text { return writer.append(number) }
            if truths.contains(name), let truth = Bool(text) { return writer.append(truth) }
        }
        append(value, to: &writer)
    }

    private static func append(_ value: Logger.MetadataValue, to writer: inout JSONWriter) {
        switch value {
        case .string(let text): writer.append(string: text)
        case .stringConvertible(let value as Int): writer.append(value)
        case .stringConvertible(let value as Int64): writer.append(value)
        case .stringConvertible(let value as Double): writer.append(value)
        case .stringConvertible(let value as Bool): writer.append(value)
        case .stringConvertible(let value): writer.append(string: value.description)
        case .array(let values):
            writer.append(raw: "[")
            for (index, value) in values.enumerated() {
                if index > 0 { writer.append(raw: ",") }
                append(value, to: &writer)
            }
            writer.append(raw: "]")
        case .dictionary(let values):
            writer.append(raw: "{")
            for (index, entry) in values.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { writer.append(raw: ",") }
                writer.append(name: entry.key)
                append(entry.value, to: &writer)
            }
            writer.append(raw: "}")
        }
    }

    /// Returns the value, in quotes if it would not read as one word.
    private static func quoted(_ text: String) -> String {
        let isWord =
            !text.isEmpty
            && text.utf8.allSatisfy {
                $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
            }
        let escaped = escaped(text)
        if isWord, escaped == text { return text }
        return "\"" + escaped.replacing("\"", with: "\\\"") + "\""
    }

    /// Returns the text without scalars that could end the line or move the cursor: foreign text must not forge lines.
    private static func escaped(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        if isPlain { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where ForeignText.isHostile(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
