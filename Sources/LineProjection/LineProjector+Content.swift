// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

// The hash and links that the ledger keeps of a record, gathered while the record is written.
extension LineProjector {
    @inline(__always)
    mutating func beginContent(_ shape: LineShape, isNeeded: Bool) {
        content = 0
        links.removeAll(keepingCapacity: true)
        guard isNeeded else { return }
        hasher.begin()
        for _ in 0..<shape.linkCount { links.append(0) }
    }

    @inline(__always)
    mutating func addContent(_ value: ColumnValue, _ plan: UnsafePointer<LineShape.ColumnPlan>) {
        hasher.add(value, seed: Int(plan.pointee.seed), isOptional: plan.pointee.isOptional)
        if plan.pointee.link >= 0 { links[Int(plan.pointee.link)] = LinkDigest.of(value, key: key) }
    }

    @inline(__always)
    mutating func addConstant(_ plan: UnsafePointer<LineShape.ColumnPlan>) {
        let constant = constants[Int(plan.pointee.contentConstant)]
        hasher.add(part: constant.part)
        if plan.pointee.link >= 0 { links[Int(plan.pointee.link)] = constant.link }
    }

    /// Finishes the hash and adds the links whose columns the client's schema version lacks.
    @inline(__always)
    mutating func finishContent(_ shape: LineShape, _ slots: Slots) {
        content = hasher.value
        guard shape.columns.count > shape.writtenColumns else { return }
        shape.columns.withUnsafeBufferPointer { plans in
            guard let first = plans.baseAddress else { return }
            for index in shape.writtenColumns..<plans.count {
                let plan = first + index
                links[Int(plan.pointee.link)] = contribution(
                    of: shape.source(of: plan, slots), plan, constant: \.link
                ) { LinkDigest.of($1, key: $0.key) }
            }
        }
    }
}

// Columns that the client has only just got.
extension LineProjector {
    /// Sets the columns, by table, for which ``bringsWatched`` tells from now on whether one is not at its default.
    package mutating func watch(_ columns: [String: Set<String>]) {
        watched = []
        guard !columns.isEmpty else { return }
        for table in projection.schema.tables {
            let names = columns[table.name] ?? []
            watched += table.columns.map { names.contains($0.name) }
        }
    }

    /// Returns whether a watched column differs from its default, which contributes nothing to the hash.
    @inline(never)
    mutating func hasWatched(_ shape: LineShape, _ slots: Slots) -> Bool {
        let offset = projection.counterOffsets[shape.table]
        for plan in shape.columns.prefix(shape.writtenColumns) where watched[offset + Int(plan.column)] {
            let part = withUnsafePointer(to: plan) { plan in
                contribution(of: shape.source(of: plan, slots), plan, constant: \.part) { projector, value in
                    projector.hasher.part(
                        of: value, seed: Int(plan.pointee.seed), isOptional: plan.pointee.isOptional)
                }
            }
            if part != 0 { return true }
        }
        return false
    }

    /// Returns what a column contributes that is not being written, by its value or by the constant in place of it.
    private mutating func contribution(
        of slice: JSONSlice?, _ plan: UnsafePointer<LineShape.ColumnPlan>,
        constant: KeyPath<ConstantContent, UInt64>, value: (inout LineProjector, ColumnValue) -> UInt64
    ) -> UInt64 {
        if slice == nil, !plan.pointee.constant.isEmpty {
            return constants[Int(plan.pointee.contentConstant)][keyPath: constant]
        }
        return withValue(slice, as: plan) { projector, found in
            plan.pointee.isDefault && found.isReplaced(isOptional: plan.pointee.isOptional)
                ? projector.constants[Int(plan.pointee.contentConstant)][keyPath: constant] : value(&projector, found)
        }
    }
}

/// The part and link that a value of the configuration contributes; computed once for a stream.
struct ConstantContent: Sendable {
    let part: UInt64
    let link: UInt64

    init(_ constant: ContentPlan.Constant, _ hasher: inout ContentHasher, key: SipHash.Key) {
        (part, link) = constant.text.withUnsafeBytes { text in
            guard let slice = try? JSONScanner.document(text) else { return (0, 0) }
            let seed = Int(constant.seed)
            if constant.type == .json, slice.kind == .string {
                let part = slice.withText {
                    hasher.part(ofJSONText: $0, seed: seed, isOptional: constant.isOptional)
                }
                return (part, 0)
            }
            // The text is what the client gets: a timestamp is a number in it.
            let value = ColumnValue(slice, ColumnSpelling(constant.type == .timestamp ? .number : constant.type))
            return (
                hasher.part(of: value, seed: seed, isOptional: constant.isOptional), LinkDigest.of(value, key: key)
            )
        }
    }
}
