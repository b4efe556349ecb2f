// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Compiles the plans of a shape's columns.
struct ColumnCompiler {
    private(set) var plans: [LineShape.ColumnPlan] = []
    private(set) var sources: [Int32] = []
    private(set) var text: [UInt8] = []
    private(set) var spellings: [ColumnSpelling] = []

    /// Adds a column, or with `isWritten: false` only the parts that its link needs.
    mutating func add(
        _ column: Column, at index: Int, lineType: String, link: Int?, reference: Int?,
        isWritten: Bool = true, slots: inout SlotCompiler, content: inout ContentPlan
    ) {
        let firstSource = Int32(sources.count)
        var constant = column.fallback.map { ColumnValue.constant($0, as: column) } ?? []
        search: for source in column.sources {
            switch source {
            case .path(let path, let types):
                if types.isEmpty || types.contains(lineType) { sources.append(slots.slot(of: path)) }
            case .lineType:
                constant = ColumnValue.constant(.string(lineType), as: column)
                break search
            case .literal(let literal):
                constant = ColumnValue.constant(literal, as: column)
                break search
            }
        }
        var prefix = JSONWriter()
        prefix.append(raw: ",")
        prefix.append(name: column.name)
        let seed = content.identity(of: column)
        let spelling = ColumnSpelling(column, of: .backend)
        spellings.append(spelling)
        plans.append(
            LineShape.ColumnPlan(
                column: Int32(index), type: column.type, isOptional: column.isOptional,
                spelling: Unmanaged.passUnretained(spelling),
                sources: firstSource..<Int32(sources.count), prefix: append(prefix.bytes), constant: append(constant),
                isDefault: column.fallback != nil,
                contentConstant: constant.isEmpty ? -1 : content.constant(constant, of: column, seed: seed),
                seed: isWritten ? seed : -1, link: link.map { Int32($0) } ?? -1,
                reference: reference.map { Int32($0) } ?? -1))
    }

    private mutating func append(_ bytes: [UInt8]) -> Range<Int32> {
        let start = Int32(text.count)
        text += bytes
        return start..<Int32(text.count)
    }
}

/// The columns and constants that content hashes need, numbered across all tables.
struct ContentPlan: Sendable {
    /// A value that the configuration gives.
    struct Constant: Sendable {
        /// The JSON of the value as the client gets it.
        let text: [UInt8]
        let type: ColumnType
        let isOptional: Bool
        let seed: Int32
    }

    private(set) var identities: [ContentHasher.ColumnIdentity] = []
    private(set) var constants: [Constant] = []
    private var numbers: [ContentHasher.ColumnIdentity: Int32] = [:]

    /// Returns the number of a column's identity; columns of different tables with the same name and kind share one.
    mutating func identity(of column: Column) -> Int32 {
        let identity = ContentHasher.ColumnIdentity(
            name: Array(column.name.utf8), kind: ContentHasher.Kind(column.type))
        if let number = numbers[identity] { return number }
        let number = Int32(identities.count)
        identities.append(identity)
        numbers[identity] = number
        return number
    }

    /// Adds a constant and returns its number.
    mutating func constant(_ text: [UInt8], of column: Column, seed: Int32) -> Int32 {
        constants.append(Constant(text: text, type: column.type, isOptional: column.isOptional, seed: seed))
        return Int32(constants.count - 1)
    }
}
