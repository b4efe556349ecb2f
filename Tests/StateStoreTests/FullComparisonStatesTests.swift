// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel
import Testing

/// How the comparison states of a cursor are stored.
@Suite struct FullComparisonStatesTests {
    @Test(arguments: [0, 3], [false, true])
    func `each state is read as it was written`(failures: Int, hasDefaults: Bool) {
        let states = [
            "AlbumsV1": FullComparison(
                doneAt: 1_800_000_000_000, triedAt: 7, mapping: "a1b2c3", blockedAt: 9, failures: failures,
                hasDefaults: hasDefaults),
            "TasksV2": FullComparison(doneAt: 0, mapping: ""),
        ]
        #expect(FullComparisonStates.decode(FullComparisonStates.encode(states)) == states)
    }

    @Test func `a state without anything unusual is as long as ever`() {
        let states = ["A": FullComparison(doneAt: 5, mapping: "m")]
        #expect(String(decoding: FullComparisonStates.encode(states), as: UTF8.self) == "1:A,5:5 0 0,1:m,")
    }

    @Test(arguments: ["5 0", "5 0 0 -1", "5 0 0 0 0", "5 0 0 0 2", "5 0 0 0 1 1", "5 0 0 ", "x 0 0"])
    func `other numbers are damage`(numbers: String) {
        let bytes = Array("1:A,\(numbers.utf8.count):\(numbers),1:m,".utf8)
        #expect(FullComparisonStates.decode(bytes) == nil)
    }
}
