// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import LineProjection
import SyncModel
import Testing

/// Random spellings, compared with the slow reading of them.
@Suite struct SpellingFuzzTests {
    /// The number of rows; `make soak` has a million.
    private static let rows = ProcessInfo.processInfo.environment["RIND_TEST_VALUES"].flatMap(Int.init) ?? 20_000

    private static let columns = ["string", "number", "boolean", "timestamp utc", "timestamp seconds utc"]

    @Test(arguments: columns)
    func `what an app gets of random spellings is what a slow reading says`(words: String) throws {
        let column = SpellingTable.column(words)
        let slow = SlowReading(column: column)
        var bench = SpellingTests.Bench(column)
        var spelling = RandomSpelling(random: SeededGenerator(seed: UInt64(words.utf8.count)))
        var readable = 0
        for row in 0..<Self.rows / Self.columns.count {
            let text = spelling.next()
            let json = try JSONValue.parse(text)
            let expected = slow.value(of: json)
            let app = try JSONValue.parse(bench.down(text))
            readable += expected == nil ? 0 : 1
            guard !json.isNull else { continue }
            let isRead = bench.projector.isDefaulted ? nil : app
            #expect(Self.isSame(isRead, expected), "row \(row): \(text) was read as \(app), not as \(expected as Any)")
        }
        #expect(readable > Self.rows / Self.columns.count / 10)
    }

    private static func isSame(_ app: JSONValue?, _ expected: JSONValue?) -> Bool {
        guard let app, let expected else { return app == nil && expected == nil }
        return app == expected || app.double != nil && app.double == expected.double
    }
}
