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

    /// A value deeper in a member.
    struct Nested: Sendable {
        enum Step: Sendable {
            case name([UInt8])
            case index(Int)
        }
        /// The slot of the member.
        let member: Int32
        /// The slot of the value inside of the member.
        let slot: Int32
        let steps: [Step]
    }

    /// The plan by which a column is written; ranges are in ``LineShape/text``.
    struct ColumnPlan: Sendable {
        /// The column's index among the table's columns.
        let column: Int32
        let type: ColumnType
        let isOptional: Bool
        /// The spellings of the column's values, which the shape keeps: not counted at each use.
        let spelling: Unmanaged<ColumnSpelling>
        /// The range of ``LineShape/sources`` that are tried, in their order.
        let sources: Range<Int32>
        /// The text `,"name":`.
        let prefix: Range<Int32>
        /// The text of the value that the configuration has for the column; empty if it has none.
        ///
        /// It follows the prefix, and is written if no source is present.
        let constant: Range<Int32>
        /// True if the constant also replaces a value that is wrong, and null in a column that is not optional.
        let isDefault: Bool
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

        @inline(__always)
        var prefixBytes: Range<Int> { Int(prefix.lowerBound)..<Int(prefix.upperBound) }

        /// True if the client has the column.
        @inline(__always)
        var isWritten: Bool { seed >= 0 }

        /// Returns a value of the backend as the column's.
        @inline(__always)
        func value(of slice: JSONSlice?) -> ColumnValue {
            spelling._withUnsafeGuaranteedRef { ColumnValue(slice, as: type, $0) }
        }
    }

    let type: String
    let role: Role
    let table: Int
    let feed: Int
    /// The names of the data's members that are wanted.
    let names: NameTable
    /// The slots of the members' values, by the index in ``names``.
    let nameSlots: [Int32]
    /// The values inside of members.
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
    /// Keeps what the plans refer to.
    private let spellings: [ColumnSpelling]

    init(
        type: String, role: Role, table: Int, feed: Int, slots: SlotCompiler, idSlots: [Int32],
        columns: ColumnCompiler, linkCount: Int, needsContent: Bool
    ) {
        self.type = type
        self.role = role
        self.table = table
        self.feed = feed
        names = NameTable(slots.names)
        nameSlots = slots.nameSlots
        nested = slots.nested
        slotCount = slots.count
        self.idSlots = idSlots
        self.columns = columns.plans
        writtenColumns = columns.plans.count { $0.isWritten }
        self.linkCount = linkCount
        self.needsContent = needsContent
        sources = columns.sources
        text = columns.text
        spellings = columns.spellings
    }

    /// Returns the value of a column's first source that is present; nil if none is.
    @inline(__always)
    func source(of plan: UnsafePointer<ColumnPlan>, _ slots: LineProjector.Slots) -> JSONSlice? {
        for source in Int(plan.pointee.sources.lowerBound)..<Int(plan.pointee.sources.upperBound) {
            if let slice = slots[Int(sources[source])] { return slice }
        }
        return nil
    }

    /// True if lines of the type carry data.
    var readsData: Bool {
        switch role {
        case .upsert, .delete, .deleteWhere, .idMap: true
        case .ackOnly, .complete, .reset: false
        }
    }
}

/// Gives every path that a shape needs a slot, and every member through which a path leads.
struct SlotCompiler {
    private(set) var names: [String] = []
    private(set) var nameSlots: [Int32] = []
    private(set) var nested: [LineShape.Nested] = []
    private(set) var count = 0
    private var slots: [Path: Int32] = [:]

    /// Returns the slot of a path; paths that are equal share one.
    ///
    /// A path that begins with an index matches nothing, because the data is an object.
    mutating func slot(of path: Path) -> Int32 {
        if let slot = slots[path] { return slot }
        guard case .name(let name) = path.steps.first else {
            let slot = next()
            slots[path] = slot
            return slot
        }
        let member = slot(ofMember: name)
        let rest = path.steps.dropFirst()
        let slot = rest.isEmpty ? member : next()
        slots[path] = slot
        guard !rest.isEmpty else { return slot }
        let steps = rest.map { step -> LineShape.Nested.Step in
            switch step {
            case .name(let name): .name(Array(name.utf8))
            case .index(let index): .index(index)
            }
        }
        nested.append(LineShape.Nested(member: member, slot: slot, steps: steps))
        return slot
    }

    private mutating func slot(ofMember name: String) -> Int32 {
        // Bytes are compared: texts in different normal forms are equal in Swift, but not in JSON.
        if let index = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return nameSlots[index] }
        names.append(name)
        nameSlots.append(next())
        return nameSlots[names.count - 1]
    }

    private mutating func next() -> Int32 {
        defer { count += 1 }
        return Int32(count)
    }
}
