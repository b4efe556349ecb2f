// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

// Columns that hold ids of other records: the client knows the records by its own ids, and as texts only.
extension LineProjector {
    /// Writes a column that refers to a record; not inlined, so that the other columns have their loop for themselves.
    @inline(never)
    mutating func appendReference(
        _ plan: UnsafePointer<LineShape.ColumnPlan>, from slice: JSONSlice?, of shape: LineShape, needsContent: Bool,
        to output: inout JSONWriter
    ) {
        withValue(slice, as: plan) { projector, value in
            projector.finishColumn(value, plan, from: slice, of: shape, needsContent: needsContent, to: &output)
        }
    }

    /// Calls `body` with a column's value; a record's id is passed as the id by which the client knows the record.
    mutating func withValue<R>(
        _ slice: JSONSlice?, as plan: UnsafePointer<LineShape.ColumnPlan>,
        _ body: (inout LineProjector, ColumnValue) -> R
    ) -> R {
        let value = plan.pointee.value(of: slice)
        guard plan.pointee.reference >= 0 else { return body(&self, value) }
        switch value {
        case .string(let id) where aliases != nil:
            return id.withText { text in
                withAlias(of: text, plan) { body(&$0, $1.map { .text($0) } ?? value) }
            }
        // A backend whose ids are numbers has numbers in its references, however it spells them.
        case .text(let digits):
            if let slice, let id = slice.integerOfOtherSpelling {
                return id.withUnsafeBytes { alias(of: $0, plan) { body(&$0, .text($1)) } }
            }
            return alias(of: digits, plan) { body(&$0, .text($1)) }
        default: return body(&self, value)
        }
    }

    /// Calls `body` with the alias of an id, or with the id itself if it has none.
    private mutating func alias<R>(
        of id: UnsafeRawBufferPointer, _ plan: UnsafePointer<LineShape.ColumnPlan>,
        _ body: (inout LineProjector, UnsafeRawBufferPointer) -> R
    ) -> R {
        withAlias(of: id, plan) { body(&$0, $1 ?? id) }
    }

    private mutating func withAlias<R>(
        of id: UnsafeRawBufferPointer, _ plan: UnsafePointer<LineShape.ColumnPlan>,
        _ body: (inout LineProjector, UnsafeRawBufferPointer?) -> R
    ) -> R {
        // Bound, since the body changes the rest of this value.
        guard let aliases else { return body(&self, nil) }
        return aliases.withAlias(of: id, table: Int(plan.pointee.reference)) { body(&self, $0) }
    }
}

// Lines that tell which ids the backend has given.
extension LineProjector {
    /// Reads the three members of a line about ids; the caller decides whether to believe the line.
    mutating func readIDMapping(_ shape: LineShape, _ slots: Slots) -> LineResult {
        let parts = shape.idSlots.compactMap { slots[Int($0)]?.idText }
        guard parts.count == 3, parts.allSatisfy({ $0.utf8.count <= RecordID.maximumLength }) else {
            return quarantine(.noID, type: shape.type, shape: nil)
        }
        idMapping = IDMapping(table: parts[0], clientID: parts[1], backendID: parts[2])
        return .idMapping
    }
}
