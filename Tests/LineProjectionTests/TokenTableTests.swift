// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import LineProjection

/// The newest token of every namespace.
@Suite struct TokenTableTests {
    /// Lines with their types and tokens, and the vector after them.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lines: [(type: String, token: String)]
        let vector: [String: String]
    }

    static let rows = [
        Row(
            testDescription: "the part before the bar, and the newest of each",
            lines: [("T", "A|1"), ("T", "A|2"), ("T", "B|1"), ("T", "A|3")], vector: ["A": "A|3", "B": "B|1"]),
        Row(
            testDescription: "without a bar the line's type",
            lines: [("A", "x"), ("A", "y"), ("B", "z")], vector: ["A": "y", "B": "z"]),
        Row(
            testDescription: "a type and the part before a bar may be the same namespace",
            lines: [("A", "x"), ("T", "A|1")], vector: ["A": "A|1"]),
        Row(
            testDescription: "a type with a bar is never the part before one",
            lines: [("A|B", "x"), ("T", "A|B|1")], vector: ["A|B": "x", "A": "A|B|1"]),
    ]

    @Test(arguments: rows)
    func `each namespace has its newest token`(_ row: Row) {
        var table = TokenTable()
        for line in row.lines {
            Array(line.token.utf8).withUnsafeBytes { token in
                Array(line.type.utf8).withUnsafeBytes { type in table.advance(to: token, lineType: type) }
            }
        }
        var vector = CheckpointVector()
        for (namespace, token) in row.vector { vector.advance(to: Checkpoint(namespace: namespace, token: token)) }
        #expect(table.vector == vector)
    }
}
