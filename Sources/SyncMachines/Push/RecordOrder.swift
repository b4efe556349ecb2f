// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Puts operations of tables that refer to each other, or to themselves, into an order by record.
///
/// The tables' own order says nothing there: a task's parent task may be created by the same push (push rule 1: what is
/// referred to comes first).
struct RecordOrder {
    private struct Frame {
        let index: Int
        var next: Int
    }

    /// The indices, by operation, of those that it refers to.
    private let targets: [[Int]]

    /// Creates the order of operations.
    ///
    /// - Parameters:
    ///   - operations: The operations, in the order that independent ones keep.
    ///   - references: Returns the references of an operation's record; records outside of the push are ignored.
    ///
    /// Of several operations on one record, each refers to the one before it.
    init(_ operations: [PushOperation], references: (PushOperation) -> [PushReference]) {
        var indices: [PushReference: Int] = [:]
        indices.reserveCapacity(operations.count)
        var earlier: [Int: Int] = [:]
        for (index, operation) in operations.enumerated() {
            let record = PushReference(table: operation.table, id: operation.id)
            if let before = indices.updateValue(index, forKey: record) { earlier[index] = before }
        }
        targets = operations.enumerated().map { index, operation in
            let record = PushReference(table: operation.table, id: operation.id)
            let found = references(operation).compactMap { $0 == record ? nil : indices[$0] }
            return earlier[index].map { found + [$0] } ?? found
        }
    }

    /// The indices of the operations, each after those that it refers to, in levels: the operations of one level do not
    /// refer to each other.
    ///
    /// Of records that refer to each other in a circle, the first one that is met comes last: no order would do, and
    /// only a backend that checks references at the end of a transaction can take them. Nothing recurses: a chain may
    /// be as long as a push.
    var levels: [[Int]] {
        var levels: [[Int]] = []
        var depths = Array(repeating: -1, count: targets.count)
        var isMet = Array(repeating: false, count: targets.count)
        var open: [Frame] = []
        for start in targets.indices where !isMet[start] {
            isMet[start] = true
            open.append(Frame(index: start, next: 0))
            while let frame = open.last {
                guard frame.next < targets[frame.index].count else {
                    let depth = (targets[frame.index].map { depths[$0] }.max() ?? -1) + 1
                    depths[frame.index] = depth
                    if depth == levels.count { levels.append([]) }
                    levels[depth].append(frame.index)
                    open.removeLast()
                    continue
                }
                open[open.count - 1].next += 1
                let target = targets[frame.index][frame.next]
                guard !isMet[target] else { continue }
                isMet[target] = true
                open.append(Frame(index: target, next: 0))
            }
        }
        return levels
    }
}
