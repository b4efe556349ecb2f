// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
package import SyncModel

/// The counts of lines and values that a projector has met, for metrics and the log.
package struct ProjectionCounters: Sendable {
    /// The most names of unknown types that are kept; the lines of further types are counted together.
    package static let maximumUnknownTypes = 64

    /// The number of all lines, bad ones included.
    package internal(set) var lines = 0
    /// The number of lines that could not be delivered, by the reason.
    package internal(set) var quarantined: [QuarantinedLine.Reason: Int] = [:]

    private let projection: Projection
    var linesByShape: [Int]
    var wrong: [Int]
    var missing: [Int]
    var assumed: [Int]
    private var unknown: [(type: [UInt8], count: Int)] = []
    private var otherUnknown = 0

    init(_ projection: Projection) {
        self.projection = projection
        linesByShape = Array(repeating: 0, count: projection.shapes.count)
        wrong = Array(repeating: 0, count: projection.counterCount)
        missing = wrong
        assumed = wrong
    }

    /// The number of lines that came of each type of the configuration; types without lines are left out.
    package var linesByType: [String: Int] {
        var lines: [String: Int] = [:]
        for (shape, count) in zip(projection.shapes, linesByShape) where count > 0 { lines[shape.type] = count }
        return lines
    }

    /// The number of lines of each unknown type.
    ///
    /// Lines beyond ``maximumUnknownTypes`` names, or with a type of more than 256 bytes, count under the empty name.
    package var unknownTypes: [String: Int] {
        var lines = otherUnknown > 0 ? ["": otherUnknown] : [:]
        for (type, count) in unknown { lines[String(decoding: type, as: UTF8.self), default: 0] += count }
        return lines
    }

    /// The number of values that were replaced by defaults, summed over all columns.
    package var defaults: (wrong: Int, missing: Int) { (wrong.reduce(0, +), missing.reduce(0, +)) }

    /// The columns with values that could not be read, or times whose zone is unknown, with their counts.
    package var columnFaults: [ColumnFault] {
        var faults: [ColumnFault] = []
        for (table, offset) in projection.schema.tables.indices.map({ ($0, projection.counterOffsets[$0]) }) {
            for column in projection.schema.tables[table].columns.indices {
                let (wrong, assumed) = (wrong[offset + column], assumed[offset + column])
                guard wrong > 0 || assumed > 0 else { continue }
                faults.append(ColumnFault(table: table, column: column, unreadable: wrong, assumed: assumed))
            }
        }
        return faults
    }

    mutating func countUnknown(_ type: JSONSlice) {
        let index = type.withText { type in unknown.firstIndex { $0.type.elementsEqual(type) } }
        if let index {
            unknown[index].count += 1
        } else if unknown.count < Self.maximumUnknownTypes, type.bytes.count <= 256 {
            var name: [UInt8] = []
            type.appendUnescaped(to: &name)
            unknown.append((name, 1))
        } else {
            otherUnknown += 1
        }
    }
}
