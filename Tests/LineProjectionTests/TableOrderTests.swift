// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel
import Testing

@Suite struct TableOrderTests {
    /// `b<a,c` is a table b with the parents a and c.
    private func order(_ text: String) -> TableOrder {
        TableOrder(
            text.split(separator: " ").map { word in
                let parts = word.split(separator: "<")
                var table = Table(name: String(parts[0]))
                table.parents = (parts.count > 1 ? parts[1].split(separator: ",") : []).map {
                    Table.Parent(column: "\($0)_id", table: String($0))
                }
                return table
            })
    }

    @Test(
        arguments: [
            ("", []),
            ("a b c", [0, 1, 2]),
            ("comments<tasks tasks<projects projects", [2, 1, 0]),
            ("links<a,b b a", [2, 1, 0]),
            ("a<nobody b", [0, 1]),
            ("d<b,c b<a c<a a", [3, 1, 2, 0]),
        ] as [(String, [Int])])
    func `parents come before their children`(_ text: String, _ expected: [Int]) {
        let order = order(text)
        #expect(order.order == expected)
        #expect(order.order.enumerated().allSatisfy { order.rank[$0.element].rawValue == $0.offset })
        #expect(order.cycles.isEmpty)
    }

    @Test(
        arguments: [
            ("folders<folders", [0], [0..<1]),
            ("a<b b<a", [0, 1], [0..<2]),
            ("leaf<a a<b b<c,root c<a root", [4, 1, 2, 3, 0], [1..<4]),
            ("a<a b<a,b", [0, 1], [0..<1, 1..<2]),
        ] as [(String, [Int], [Range<Int>])])
    func `tables of a cycle stand side by side and are named`(
        _ text: String, _ expected: [Int], _ cycles: [Range<Int>]
    ) {
        let order = order(text)
        #expect(order.order == expected && order.cycles == cycles)
        #expect(order.cycle(of: cycles[0].lowerBound) == cycles[0] && order.cycle(of: 99) == nil)
    }

    @Test(arguments: 0..<100) func `in any graph a parent of another cycle has a lower rank`(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 1...12, using: &random)
        let tables = (0..<count).map { place in
            var table = Table(name: "t\(place)")
            table.parents = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                Table.Parent(column: "c", table: "t\(Int.random(in: 0..<count, using: &random))")
            }
            return table
        }
        // What leads to what, by brute force.
        var reaches = Array(repeating: Array(repeating: false, count: count), count: count)
        for (place, table) in tables.enumerated() {
            for parent in table.parents { reaches[place][Int(parent.table.dropFirst()) ?? 0] = true }
        }
        for middle in 0..<count {
            for from in 0..<count where reaches[from][middle] {
                for to in 0..<count where reaches[middle][to] { reaches[from][to] = true }
            }
        }
        let order = TableOrder(tables)
        #expect(order.order.sorted() == Array(0..<count))
        for child in 0..<count {
            let cycle = order.cycle(of: Int(order.rank[child].rawValue))
            #expect((cycle != nil) == reaches[child][child])
            for parent in 0..<count where reaches[child][parent] {
                if reaches[parent][child] {
                    #expect(cycle == order.cycle(of: Int(order.rank[parent].rawValue)))
                } else {
                    #expect(order.rank[parent] < order.rank[child])
                }
            }
        }
    }
}
