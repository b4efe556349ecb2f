// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Ledger

/// What goes with what, in memory.
@Suite struct MovedParentsTests {
    typealias Departure = RecordVerdict.Departure

    /// Records of one table that name each other, as child, parent and the place of the child's line.
    private static func descent(_ pairs: [(UInt64, UInt64, UInt64)], maximum: Int = 100) -> CycleDescent {
        var descent = CycleDescent(within: [0], maximum: maximum)
        for (child, parent, sequence) in pairs {
            descent.add(.init(parent: parent, child: child, sequence: sequence), from: 0, to: 0)
        }
        descent.sort()
        return descent
    }

    @Test func `all that hangs on a record goes with it, also in circles`() {
        let descent = Self.descent([(2, 1, 0), (3, 2, 0), (4, 3, 0), (1, 4, 0), (9, 8, 0), (5, 0, 0)])
        var moved = MovedParents()
        moved.end(1, of: 0, Departure())
        descent.follow(&moved, keeping: [])
        #expect(moved.gone[0]?.keys.sorted() == [1, 2, 3, 4])
    }

    @Test func `a later end is passed on to those that were gone already`() {
        let descent = Self.descent([(2, 1, 0), (3, 2, 0), (4, 3, 5)])
        var moved = MovedParents()
        moved.end(2, of: 0, Departure())
        moved.end(1, of: 0, Departure(began: 7, resumed: 8))
        descent.follow(&moved, keeping: [])
        #expect(moved.gone[0]?[4] == Departure(began: 7, resumed: 8) && moved.gone[0]?.count == 4)
    }

    @Test func `what goes without a line stays where that is not allowed, and a line counts more`() {
        let descent = Self.descent([(2, 1, 0), (3, 2, 0), (5, 4, 0)])
        var moved = MovedParents()
        moved.comeBack(1, of: 0, began: 0)
        moved.comeBack(4, of: 0, began: 0)
        moved.end(2, of: 0, Departure())
        var all = moved
        descent.follow(&all, keeping: [])
        #expect(all.gone[0] == [2: Departure(), 3: Departure(), 5: Departure(isAbsent: true)])
        descent.follow(&moved, keeping: [0])
        #expect(moved.gone[0]?.keys.sorted() == [2, 3])
    }

    @Test func `beyond a limit nothing is followed, and nothing is noted`() {
        let descent = Self.descent([(2, 1, 0), (3, 2, 0), (4, 3, 0)], maximum: 2)
        #expect(descent.hasOverflowed)
        var moved = MovedParents(maximum: 2)
        moved.end(1, of: 0, Departure())
        descent.follow(&moved, keeping: [])
        #expect(moved.gone[0]?.count == 1 && moved.overflowed.isEmpty)
        moved.comeBack(6, of: 1, began: 0)
        moved.end(7, of: 1, Departure())
        #expect(moved.overflowed == [1] && !moved.areKnown(of: 2) && moved.gone[1] == nil)
        moved.forget(1)
        moved.end(7, of: 1, Departure())
        #expect(moved.overflowed.isEmpty && moved.gone[1]?.count == 1)
    }
}
