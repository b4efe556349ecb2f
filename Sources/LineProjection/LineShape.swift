// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The processing of lines of one type, compiled from the configuration for one schema version.
///
/// All data that a line needs lies in flat arrays of plain values, so that projecting counts no references.
final class LineShape: Sendable {
    enum Role: Sendable {
        case upsert
        case delete(all: Bool)
        case deleteWhere(column: Int, link: Int)
        case ackOnly, complete, reset
        /// A line that tells which id the backend has given to a record.
        case idMap
    }

    /// The values to look for in a member of the data.
    struct Node: Sendable {
        /// The slot of the member's own value; −1 if only values inside of it are wanted.
        var slot: Int32 = -1
        /// The range of ``LineShape/nested`` with the values inside of the member.
        var nested: Range<Int32> = 0..<0
    }

    /// A value deeper in a member.
    struct Nested: Sendable {
        enum Step: Sendable {
            case name([UInt8])
            case index(Int)
        }
        let slot: Int32
        let steps: [Step]
    }

    /// The plan by which a column is written; ranges are in ``LineShape/text``.
    struct ColumnPlan: Sendable {
        /// The column's index among the table's columns.
        let column: Int32
        let type: ColumnType
        let isOptional: Bool
        /// The range of ``LineShape/sources`` that are tried, in their order.
        let sources: Range<Int32>
        /// The text `,"name":`.
        let prefix: Range<Int32>
        /// The text that is written if no source is present and the configuration has a value; empty if it has none.
        let constant: Range<Int32>
        /// The index of that value in ``ContentPlan/constants``; −1 if there is none.
        let contentConstant: Int32
        /// The column's index in ``ContentPlan/identities``.
        ///
        /// It is −1 if the client's schema version lacks the column and only its link is wanted.
        let seed: Int32
        /// The column's index among the table's links; −1 if it is none.
        let link: Int32
        /// The index of the table whose records the value names by id; −1 if the column is no reference.
        let reference: Int32

        /// True if the client has the column.
        @inline(__always)
        var isWritten: Bool { seed >= 0 }
    }

    let type: String
    let role: Role
    let table: Int
    let feed: Int
    /// The names of the data's members that are wanted.
    let names: NameTable
    /// The wanted values of each of ``names``.
    let nodes: [Node]
    let nested: [Nested]
    let slotCount: Int
    /// The slots of the id's parts, or of the value of a delete by column.
    let idSlots: [Int32]
    /// The plans of the columns: first the written ones, in the order of the configuration, then those of links only.
    let columns: [ColumnPlan]
    let writtenColumns: Int
    /// The number of links that records of the table have in its ledger; 0 if it has none.
    let linkCount: Int
    /// True if records are hashed, because a ledger keeps the hash.
    let needsContent: Bool
    let sources: [Int32]
    let text: [UInt8]

    init(
        type: String, role: Role, table: Int, feed: Int, slots: SlotCompiler, idSlots: [Int32],
        columns: ColumnCompiler, linkCount: Int, needsContent: Bool
    ) {
        self.type = type
        self.role = role
        self.table = table
        self.feed = feed
        names = NameTable(slots.names)
        (nodes, nested) = slots.compiled
        slotCount = slots.count
        self.idSlots = idSlots
        self.columns = columns.plans
        writtenColumns = columns.plans.count { $0.isWritten }
        self.linkCount = linkCount
        self.needsContent = needsContent
        sources = columns.sources
        text = columns.text
    }

    /// True if lines of the type carry data.
    var readsData: Bool {
        switch role {
        case .upsert, .delete, .deleteWhere, .idMap: true
        case .ackOnly, .complete, .reset: false
        }
    }
}

/// Gives every path that a shape needs a slot, and sorts the paths by their first name.
struct SlotCompiler {
    private(set) var names: [String] = []
    private(set) var count = 0
    private var slots: [Path: Int32] = [:]
    private var paths: [[(slot: Int32, rest: [Path.Step])]] = []

    /// Returns the slot of a path; paths that are equal share one.
    ///
    /// A path that begins with an index matches nothing, because the data is an object.
    mutating func slot(of path: Path) -> Int32 {
        if let slot = slots[path] { return slot }
        let slot = Int32(count)
        count += 1
        slots[path] = slot
        guard case .name(let name) = path.steps.first else { return slot }
        let entry = (slot, Array(path.steps.dropFirst()))
        if let place = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
            paths[place].append(entry)
        } else {
            names.append(name)
            paths.append([entry])
        }
        return slot
    }

    var compiled: (nodes: [LineShape.Node], nested: [LineShape.Nested]) {
        var nested: [LineShape.Nested] = []
        let nodes = paths.map { entries -> LineShape.Node in
            var node = LineShape.Node()
            let first = Int32(nested.count)
            for entry in entries {
                if entry.rest.isEmpty {
                    node.slot = entry.slot
                } else {
                    let steps = entry.rest.map { step -> LineShape.Nested.Step in
                        switch step {
                        case .name(let name): .name(Array(name.utf8))
                        case .index(let index): .index(index)
                        }
                    }
                    nested.append(LineShape.Nested(slot: entry.slot, steps: steps))
                }
            }
            node.nested = first..<Int32(nested.count)
            return node
        }
        return (nodes, nested)
    }
}
