// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A fixed set of names, found by their bytes without an allocation.
///
/// The names come from the configuration, so nobody outside can choose them to collide.
package final class NameTable: Sendable {
    private struct Entry {
        let start: Int32
        let count: Int32
    }

    private let text: [UInt8]
    private let entries: [Entry]
    /// The places of the names by their hash, −1 where there is none; at most one quarter is taken.
    private let buckets: [Int16]
    private let mask: Int

    /// A table of distinct names; they are told apart by their places.
    package init(_ names: [String]) {
        precondition(names.count < 1 << 13, "a table of names has at most 8,191 of them")
        var size = 8
        while size < names.count * 4 { size *= 2 }
        let mask = size - 1
        var text: [UInt8] = []
        var entries: [Entry] = []
        var buckets: [Int16] = Array(repeating: -1, count: size)
        for name in names {
            let bytes = Array(name.utf8)
            let place = Int16(entries.count)
            entries.append(Entry(start: Int32(text.count), count: Int32(bytes.count)))
            text += bytes
            var bucket = bytes.withUnsafeBytes { Self.hash($0) } & mask
            while buckets[bucket] >= 0 { bucket = (bucket + 1) & mask }
            buckets[bucket] = place
        }
        self.mask = mask
        self.text = text
        self.entries = entries
        self.buckets = buckets
    }

    /// How many names there are.
    package var count: Int { entries.count }

    /// The place of the name that a scanned string is; −1 where it is none of them.
    @inline(__always)
    package func place(of name: JSONSlice) -> Int {
        if name.hasEscapes { return escapedPlace(of: name) }
        return place(of: name.content)
    }

    /// The place of a name; −1 where it is none of them.
    @inline(__always)
    package func place(of name: UnsafeRawBufferPointer) -> Int {
        var bucket = Self.hash(name) & mask
        while true {
            let place = Int(buckets[bucket])
            if place < 0 || isName(at: place, name) { return place }
            bucket = (bucket &+ 1) & mask
        }
    }

    @inline(never)
    private func escapedPlace(of name: JSONSlice) -> Int { name.withText { place(of: $0) } }

    @inline(__always)
    private func isName(at place: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        let entry = entries[place]
        guard Int(entry.count) == name.count else { return false }
        return text.withUnsafeBytes {
            RawBytes.areEqual(
                UnsafeRawBufferPointer(rebasing: $0[Int(entry.start)..<Int(entry.start &+ entry.count)]), name)
        }
    }

    /// Length, first, middle and last byte tell the names of one table apart well enough.
    @inline(__always)
    private static func hash(_ name: UnsafeRawBufferPointer) -> Int {
        let count = name.count
        guard count > 0 else { return 0 }
        let first = Int(name[0])
        let middle = Int(name[count &>> 1])
        let last = Int(name[count &- 1])
        let mixed = (count &* 31) ^ (first &* 0x9e5) ^ (middle &* 0x1c3) ^ (last &* 0x3b)
        return mixed ^ mixed &>> 7
    }
}

extension JSONScanner {
    /// Reads the object that comes next and calls `body` with every member whose name is in the table.
    ///
    /// The other members are validated and passed over. Repeated members come once each, in their order. It is the
    /// same as asking ``nextMember()`` and ``value()`` in turn, in one call for a whole object.
    ///
    /// - Parameters:
    ///   - names: The names that are wanted.
    ///   - body: Gets the place of the name in the table, and the value.
    /// - Throws: ``JSONError`` where no object comes next or it is not valid.
    package mutating func forEachMember(
        in names: NameTable, _ body: (Int, JSONSlice) -> Void
    ) throws(JSONError) {
        try beginObject()
        while let name = try nextMember() {
            let place = names.place(of: name)
            let value = try value()
            if place >= 0 { body(place, value) }
        }
    }
}
