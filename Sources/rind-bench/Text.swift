// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Formats figures and tables for reading.
enum Text {
    /// Returns a figure with a number of digits after the point.
    static func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

    /// Returns a whole number with separated thousands.
    static func grouped(_ value: Int) -> String {
        let digits = Array(String(abs(value)))
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[Swift.max(0, $0 - 3)..<$0]) }
        return (value < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    /// Returns rows one below the other: the first column aligned left, the others right.
    static func table(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Prints a report for reading, or all of its figures for scripts, with the text on standard error.
    static func publish(_ report: some Encodable, as text: String, isJSON: Bool) throws {
        if isJSON { note(text) }
        print(isJSON ? try json(report) : text)
    }

    /// Returns a value as JSON that both scripts and operators can read.
    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Prints to standard error, which takes progress and sentences if the figures are for a script.
    static func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
