// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// What to do with lines of one type, compiled from the configuration for one schema version.
///
/// Everything that a line needs lies in flat arrays of plain values, so that projecting counts no references.
final class LineShape: Sendable {
    enum Role: Sendable {
        case upsert
        case delete(all: Bool)
        case deleteWhere(column: Int, link: Int)
        case ackOnly, complete, reset
        /// Tells which id the backend has given to a record.
        case idMap
    }

    /// What to look for in a member of the data.
    struct Node: Sendable {
        /// The slot of the member's own value, −1 where only values inside of it are wanted.
        var slot: Int32 = -1
        /// Which of ``LineShape/nested`` stand inside.
        var nested: Range<Int32> = 0..<0
    }

    /// A value deeper down.
    struct Nested: Sendable {
        enum Step: Sendable {
            case name([UInt8])
            case index(Int)
        }
        let slot: Int32
        let steps: [Step]
    }

    /// How a column is written; ranges are in ``LineShape/text``.
    struct ColumnPlan: Sendable {
        /// The column's place among the table's columns.
        let column: Int32
        let type: ColumnType
        let isOptional: Bool
        /// Which of ``LineShape/sources`` are tried, in their order.
        let sources: Range<Int32>
        /// `,"name":`.
        let prefix: Range<Int32>
        /// What stands there if no source is present and the configuration has a value; empty without.
        let constant: Range<Int32>
        /// Which of ``ContentPlan/constants`` that is; −1 without.
        let contentConstant: Int32
        /// Which of ``ContentPlan/identities`` the column is in hashes of contents; −1 where the client has not got it,
        /// and only its link is wanted.
        let seed: Int32
        /// Which of the table's links the column is; −1 for none.
        let link: Int32
        /// The place of the table that the value is an id of; −1 where it is none.
        let reference: Int32

        /// Whether the client has the column.
        @inline(__always)
        var isWritten: Bool { seed >= 0 }
    }

    let type: String
    let role: Role
    let table: Int
    let source: Int
    /// The names of the data's members that are wanted.
    let names: NameTable
    /// What is wanted of each of ``names``.
    let nodes: [Node]
    let nested: [Nested]
    let slotCount: Int
    /// The slots of the id's parts, or of the value of a delete by column.
    let idSlots: [Int32]
    /// First those that are written, in the order of the configuration, then those of which only the link is wanted.
    let columns: [ColumnPlan]
    let writtenColumns: Int
    /// How many links records of the table have in its ledger; 0 where it has none.
    let linkCount: Int
    /// Whether records are hashed, because a ledger keeps the hash.
    let needsContent: Bool
    let sources: [Int32]
    let text: [UInt8]

    init(
        type: String, role: Role, table: Int, source: Int, slots: SlotCompiler, idSlots: [Int32],
        columns: ColumnCompiler, linkCount: Int, needsContent: Bool
    ) {
        self.type = type
        self.role = role
        self.table = table
        self.source = source
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

    /// Whether lines of the type carry data.
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

    /// The slot of a path; paths that are equal share one.
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
