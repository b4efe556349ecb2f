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
    /// If the scan fails, the envelope and the slots, which come empty, hold the values that were read before.
    mutating func readEnvelope(
        of line: UnsafeRawBufferPointer, by projection: Projection, _ slots: Slots, into envelope: inout Envelope
    ) throws(JSONError) {
        var scanner = JSONScanner(line, maximumDepth: projection.rules.depthLimit)
        guard try scanner.peekKind() == .object else {
            envelope.isOther = true
            _ = try scanner.value()
            try scanner.finish()
            return
        }
        try envelopePattern.beginObject(of: &scanner)
        while let name = try envelopePattern.nextMember(of: &scanner, in: projection.fields) {
            switch name {
            case 0:
                let type = try scanner.value()
                envelope.type = type
                envelope.shape = type.kind == .string ? projection.types.index(of: type) : -1
                if envelope.shape >= 0 { (lastShape, hasShape) = (envelope.shape, true) }
            case 1: envelope.ack = try scanner.value()
            case 2: try readData(from: &scanner, by: projection, envelope: &envelope, slots: slots)
            default: _ = try scanner.value()
            }
        }
        try scanner.finish()
    }

    @inline(__always)
    private mutating func readData(
        from scanner: inout JSONScanner, by projection: Projection, envelope: inout Envelope, slots: Slots
    ) throws(JSONError) {
        let kind = try scanner.peekKind()
        let start = scanner.offset
        let isRepeated = envelope.dataKind != nil
        envelope.dataKind = kind
        envelope.dataShape = -1
        if kind == .object, envelope.shape >= 0 {
            // Not counted, since the projection, which the caller holds, keeps its shapes.
            unowned(unsafe) let shape = projection.shapes[envelope.shape]
            if shape.readsData {
                if isRepeated { slots.update(repeating: nil) }
                envelope.dataShape = envelope.shape
                try Self.readMembers(from: &scanner, shape, &patterns[envelope.shape], slots: slots)
                envelope.data = start..<scanner.offset
                return
            }
        }
        _ = try scanner.value()
        envelope.data = start..<scanner.offset
    }

    /// Fills the slots from data that the scan has passed and validated already.
    mutating func reread(
        _ line: UnsafeRawBufferPointer, data: Range<Int>, as shapeIndex: Int,
        slots: Slots
    ) {
        slots.update(repeating: nil)
        var scanner = JSONScanner(UnsafeRawBufferPointer(rebasing: line[data]), maximumDepth: .max)
        do throws(JSONError) {
            try Self.readMembers(from: &scanner, projection.shapes[shapeIndex], &patterns[shapeIndex], slots: slots)
        } catch {
            assertionFailure("validated data does not scan: \(error)")
        }
    }

    /// Puts the values that a shape wants into their slots; of members with the same name the last one stays.
    @inline(__always)
    private static func readMembers(
        from scanner: inout JSONScanner, _ shape: LineShape, _ pattern: inout MemberPattern, slots: Slots
    ) throws(JSONError) {
        // Values inside of members are looked for even if the rest of the line turns out to be broken.
        defer { if !shape.nested.isEmpty { readNested(shape, slots: slots) } }
        try pattern.readMembers(of: &scanner, in: shape.names, targets: shape.nameSlots, into: slots)
    }

    @inline(never)
    private static func readNested(_ shape: LineShape, slots: Slots) {
        for nested in shape.nested {
            var found = slots[Int(nested.member)]
            for step in nested.steps {
                switch step {
                case .name(let name): found = name.withUnsafeBytes { found?.member($0) }
                case .index(let index): found = found?.element(at: index)
                }
            }
            slots[Int(nested.slot)] = found
        }
    }
}
