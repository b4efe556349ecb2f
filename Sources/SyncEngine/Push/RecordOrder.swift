// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Puts operations of tables that refer to each other, or to themselves, into an order by record.
///
/// The tables' own order says nothing there: a task's parent task may be created by the same push (push rule 1: what is
/// referred to comes first).
struct RecordOrder {
    private struct Frame {
        let place: Int
        var next: Int
    }

    /// By operation, the places of those that it refers to.
    private let targets: [[Int]]

    /// - Parameters:
    ///   - operations: In the order that they keep where nothing speaks against it.
    ///   - references: What an operation's record refers to; records that are not in the push count for nothing.
    init(_ operations: [PushOperation], references: (PushOperation) -> [PushReference]) {
        var places: [PushReference: Int] = [:]
        for (place, operation) in operations.enumerated() {
            places[PushReference(table: operation.table, id: operation.id)] = place
        }
        targets = operations.enumerated().map { place, operation in
            references(operation).compactMap { places[$0] }.filter { $0 != place }
        }
    }

    /// The places of the operations, each behind those that it refers to.
    ///
    /// Of records that refer to each other in a circle the first one that is met comes last: no order would do, and only a
    /// backend that checks references at the end of a transaction can take them. Nothing recurses: a chain may be as long
    /// as a push.
    var places: [Int] {
        var order: [Int] = []
        order.reserveCapacity(targets.count)
        var isMet = Array(repeating: false, count: targets.count)
        var open: [Frame] = []
        for start in targets.indices where !isMet[start] {
            isMet[start] = true
            open.append(Frame(place: start, next: 0))
            while let frame = open.last {
                guard frame.next < targets[frame.place].count else {
                    order.append(frame.place)
                    open.removeLast()
                    continue
                }
                open[open.count - 1].next += 1
                let target = targets[frame.place][frame.next]
                guard !isMet[target] else { continue }
                isMet[target] = true
                open.append(Frame(place: target, next: 0))
            }
        }
        return order
    }
}
