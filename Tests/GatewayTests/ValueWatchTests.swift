// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import Gateway

/// When the problems of a column are reported.
@Suite struct ValueWatchTests {
    private static func problem(_ count: Int, column: String = "price") -> ColumnProblem {
        ColumnProblem(table: "tasks", column: column, kind: .unreadable, count: count)
    }

    @Test func `a column is reported at once, and after an hour with all that has come since`() {
        let watch = ValueWatch()
        #expect(watch.due([Self.problem(2)], at: 1_000) == [Self.problem(2)])
        #expect(watch.due([Self.problem(3)], at: 3_600_999).isEmpty)
        #expect(watch.due([Self.problem(1, column: "due")], at: 3_600_999) == [Self.problem(1, column: "due")])
        #expect(watch.due([Self.problem(4)], at: 3_601_000) == [Self.problem(7)])
        #expect(watch.due([Self.problem(1)], at: 3_601_001).isEmpty)
    }

    @Test func `a clock that is set back silences no column`() {
        let watch = ValueWatch()
        #expect(watch.due([Self.problem(1)], at: 90_000_000) == [Self.problem(1)])
        #expect(watch.due([Self.problem(2)], at: 1_000) == [Self.problem(2)])
        #expect(watch.due([Self.problem(3)], at: 2_000).isEmpty)
    }
}
