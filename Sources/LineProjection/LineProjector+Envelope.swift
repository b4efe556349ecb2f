// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

extension LineProjector {
    /// The envelope of one line.
    struct Envelope {
        var type: JSONSlice?
        var ack: JSONSlice?
        /// The index of the type's shape; −1 if the type is unknown.
        var shape = -1
        /// The kind of the data; nil if there is none.
        var dataKind: JSONKind?
        /// The range of the data in the line.
        var data = 0..<0
        /// The index of the shape for which the data, or its beginning if the scan failed, was read; −1 for none.
        var dataShape = -1
        /// True if the line is a JSON value other than an object.
        var isOther = false
    }

    /// Scans the whole line, and on the way the data for the shape that the type has named so far.
    ///
    /// If the scan fails, the envelope and the slots hold the values that were read before.
    mutating func readEnvelope(
        of line: UnsafeRawBufferPointer, _ slots: UnsafeMutableBufferPointer<JSONSlice?>, into envelope: inout Envelope
    ) throws(JSONError) {
        var scanner = JSONScanner(line, maximumDepth: projection.rules.depthLimit)
        guard try scanner.peekKind() == .object else {
            envelope.isOther = true
            _ = try scanner.value()
            try scanner.finish()
            return
        }
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            switch projection.fields.index(of: name) {
            case 0:
                let type = try scanner.value()
                envelope.type = type
                envelope.shape = type.kind == .string ? shape(for: type) : -1
            case 1: envelope.ack = try scanner.value()
            case 2: try readData(from: &scanner, envelope: &envelope, slots: slots)
            default: _ = try scanner.value()
            }
        }
        try scanner.finish()
    }

    private mutating func readData(
        from scanner: inout JSONScanner, envelope: inout Envelope, slots: UnsafeMutableBufferPointer<JSONSlice?>
    ) throws(JSONError) {
        let kind = try scanner.peekKind()
        let start = scanner.offset
        envelope.dataKind = kind
        envelope.dataShape = -1
        if kind == .object, envelope.shape >= 0 {
            let shape = projection.shapes[envelope.shape]
            if shape.readsData {
                slots.update(repeating: nil)
                envelope.dataShape = envelope.shape
                try Self.readMembers(from: &scanner, shape, slots: slots)
                envelope.data = start..<scanner.offset
                return
            }
        }
        _ = try scanner.value()
        envelope.data = start..<scanner.offset
    }

    /// Fills the slots from data that the scan has passed and validated already.
    func reread(
        _ line: UnsafeRawBufferPointer, data: Range<Int>, _ shape: LineShape,
        slots: UnsafeMutableBufferPointer<JSONSlice?>
    ) {
        slots.update(repeating: nil)
        var scanner = JSONScanner(UnsafeRawBufferPointer(rebasing: line[data]), maximumDepth: .max)
        do throws(JSONError) { try Self.readMembers(from: &scanner, shape, slots: slots) } catch {
            assertionFailure("validated data does not scan: \(error)")
        }
    }

    /// Puts the members that a shape wants into its slots; of members with the same name the last one stays.
    private static func readMembers(
        from scanner: inout JSONScanner, _ shape: LineShape, slots: UnsafeMutableBufferPointer<JSONSlice?>
    ) throws(JSONError) {
        try scanner.forEachMember(in: shape.names) { index, value in
            let node = shape.nodes[index]
            if node.slot >= 0 { slots[Int(node.slot)] = value }
            if !node.nested.isEmpty { readNested(value, node, in: shape, slots: slots) }
        }
    }

    private static func readNested(
        _ value: JSONSlice, _ node: LineShape.Node, in shape: LineShape,
        slots: UnsafeMutableBufferPointer<JSONSlice?>
    ) {
        for nested in shape.nested[Int(node.nested.lowerBound)..<Int(node.nested.upperBound)] {
            var found: JSONSlice? = value
            for step in nested.steps {
                switch step {
                case .name(let name): found = name.withUnsafeBytes { found?.member($0) }
                case .index(let index): found = found?.element(at: index)
                }
            }
            slots[Int(nested.slot)] = found
        }
    }

    /// Returns the index of a line type's shape, −1 if the type is unknown, and remembers a known one.
    @inline(__always)
    private mutating func shape(for type: JSONSlice) -> Int {
        let index = projection.types.index(of: type)
        if index >= 0 { lastShape = index }
        return index
    }
}
