// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Rows of cells below a head, each column as wide as its widest cell.
struct TextTable {
    /// One column.
    struct Column {
        let title: String
        /// True if numbers stand below each other by their last digit.
        var isNumber = false
        /// True if the column is left out where no row has anything in it.
        var isOptional = false
    }

    let columns: [Column]
    let rows: [[String]]

    /// The head and the rows as lines.
    var lines: [String] {
        let shown = columns.indices.filter { index in
            !columns[index].isOptional || rows.contains { !$0[index].isEmpty }
        }
        let cells = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let line = shown.map { column in
                columns[column].isNumber
                    ? row[column].leftPadded(to: widths[column]) : row[column].padded(to: widths[column])
            }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension TextTable.Column: ExpressibleByStringLiteral {
    init(stringLiteral title: String) { self.init(title: title) }

    /// The scope, where there is one.
    static let scope = Self(title: "SCOPE", isOptional: true)
}
