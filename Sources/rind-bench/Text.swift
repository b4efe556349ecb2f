// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Figures and tables for people.
enum Text {
    /// A figure with so many digits behind the point.
    static func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

    /// A whole number with its thousands apart.
    static func grouped(_ value: Int) -> String {
        let digits = Array(String(abs(value)))
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[Swift.max(0, $0 - 3)..<$0]) }
        return (value < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    /// Rows under each other: the first column to the left, the others to the right.
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

    /// Prints a report for people, or all of its figures for scripts with the text beside them.
    static func publish(_ report: some Encodable, as text: String, isJSON: Bool) throws {
        if isJSON { note(text) }
        print(isJSON ? try json(report) : text)
    }

    /// A value as JSON that a script can read and a person too.
    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Prints to standard error, where progress and sentences go when figures are for a script.
    static func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
