// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncModel
import Testing

@Suite struct LineSetTests {
    @Test(arguments: [0, 1, 63, 64, 65, 128, 1_000], 0..<4)
    func `a set is what a Swift set is`(lines: Int, seed: Int) {
        var random = SeededGenerator(seed: UInt64(lines * 10 + seed))
        var set = seed % 2 == 0 ? LineSet(lines: lines) : LineSet(allOf: lines)
        var expected = seed % 2 == 0 ? Set<Int>() : Set(0..<lines)
        for step in 0..<(lines == 0 ? 0 : 400) {
            let line = Int.random(in: 0..<lines, using: &random)
            // Now and then everything comes in or goes out.
            if (step / 100 + seed) % 2 == 0 {
                set.insert(line)
                expected.insert(line)
            } else {
                set.remove(line)
                expected.remove(line)
            }
            if step % 17 == 0 { set.seal() }
            #expect(set.count == expected.count && set.isWhole == (expected.count == lines))
            let start = Int.random(in: 0...lines, using: &random)
            let end = Int.random(in: start...lines, using: &random)
            #expect(set.count(in: start..<end) == expected.count { $0 >= start && $0 < end })
        }
        #expect((0..<lines).allSatisfy { set.contains($0) == expected.contains($0) })
        #expect(!set.contains(lines))
    }

    @Test func `all lines and none take no room once they are sealed`() {
        var set = LineSet(lines: 100)
        for line in 0..<100 { set.insert(line) }
        #expect(set.byteCount == 16)
        set.seal()
        #expect(set.byteCount == 0 && set.isWhole && set.contains(99) && set == LineSet(allOf: 100))
        for line in 0..<100 { set.remove(line) }
        set.seal()
        #expect(set.byteCount == 0 && set.count == 0 && set == LineSet(lines: 100))
    }

    @Test func `a row has one fate: the last verdict counts`() {
        var verdicts = LineVerdicts(records: 3, deletions: 2)
        verdicts.create(0)
        verdicts.update(0)
        verdicts.update(1)
        verdicts.create(1)
        verdicts.delete(1)
        #expect((0..<3).map(verdicts.created.contains) == [false, true, false])
        #expect((0..<3).map(verdicts.updated.contains) == [true, false, false])
        #expect((0..<2).map(verdicts.deleted.contains) == [false, true])
    }
}
