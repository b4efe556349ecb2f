// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A fixed set of names, found by their bytes without an allocation.
///
/// The names come from the configuration, so no outsider can choose names that collide.
package final class NameTable: Sendable {
    private struct Entry {
        let start: Int32
        let count: Int32
    }

    private let text: [UInt8]
    private let entries: [Entry]
    /// The indexes of the names by their hash, −1 for an empty bucket; at most one quarter is taken.
    private let buckets: [Int16]
    private let mask: Int

    /// Creates a table of distinct names; each name is known by its index.
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
            let index = Int16(entries.count)
            entries.append(Entry(start: Int32(text.count), count: Int32(bytes.count)))
            text += bytes
            var bucket = bytes.withUnsafeBytes { Self.hash($0) } & mask
            while buckets[bucket] >= 0 { bucket = (bucket + 1) & mask }
            buckets[bucket] = index
        }
        self.mask = mask
        self.text = text
        self.entries = entries
        self.buckets = buckets
    }

    /// The number of names.
    package var count: Int { entries.count }

    /// Returns the index of the name that a scanned string equals; −1 if it equals none.
    @inline(__always)
    package func index(of name: JSONSlice) -> Int {
        if name.hasEscapes { return escapedIndex(of: name) }
        return index(of: name.content)
    }

    /// Returns the index of a name; −1 if the table has no such name.
    @inline(__always)
    package func index(of name: UnsafeRawBufferPointer) -> Int {
        var bucket = Self.hash(name) & mask
        while true {
            let index = Int(buckets[bucket])
            if index < 0 || isName(at: index, name) { return index }
            bucket = (bucket &+ 1) & mask
        }
    }

    @inline(never)
    private func escapedIndex(of name: JSONSlice) -> Int { name.withText { index(of: $0) } }

    @inline(__always)
    private func isName(at index: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        let entry = entries[index]
        guard Int(entry.count) == name.count else { return false }
        return text.withUnsafeBytes {
            RawBytes.areEqual(
                UnsafeRawBufferPointer(rebasing: $0[Int(entry.start)..<Int(entry.start &+ entry.count)]), name)
        }
    }

    /// Mixes length, first, middle and last byte, which tell the names of one table apart well enough.
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
