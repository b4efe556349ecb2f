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
                let slice = source(of: plan, shape, slots)
                links[Int(plan.pointee.link)] =
                    slice == nil && !plan.pointee.constant.isEmpty
                    ? constants[Int(plan.pointee.contentConstant)].link
                    : withValue(slice, as: plan) { LinkDigest.of($1, key: $0.key) }
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
            let slice = withUnsafePointer(to: plan) { source(of: $0, shape, slots) }
            let part =
                slice == nil && !plan.constant.isEmpty
                ? constants[Int(plan.contentConstant)].part
                : withUnsafePointer(to: plan) { plan in
                    withValue(slice, as: plan) { projector, value in
                        projector.hasher.part(
                            of: value, seed: Int(plan.pointee.seed), isOptional: plan.pointee.isOptional)
                    }
                }
            if part != 0 { return true }
        }
        return false
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
            // A timestamp is already written as the number that the client gets.
            let value = ColumnValue(slice, as: constant.type == .timestamp ? .number : constant.type)
            return (
                hasher.part(of: value, seed: seed, isOptional: constant.isOptional), LinkDigest.of(value, key: key)
            )
        }
    }
}
