// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Remembers how the members of earlier objects were named, in which order and spelling.
///
/// Objects of one kind resemble each other: the bytes between two values (comma, name, colon and white space) are
/// compared with those of the objects before, and only if they differ is the name read. Bytes that were valid at a
/// position of one object are valid at the same position of another, so that nothing is accepted that would not be accepted
/// without a pattern.
package struct MemberPattern: Sendable {
    private struct Entry {
        /// The range of the bytes in `text`.
        let start: Int32
        let count: Int32
        /// The name's index in the table; −1 if it is not in there.
        let name: Int32
    }

    /// The number of entries that are tried behind the one that is due, because members may be left out.
    private static let reach = 4
    private static let maximumCount = 128
    private static let maximumLength = 8_192

    private var text: [UInt8] = []
    /// The first entry is for the first member only, which has no comma; all others are for later members.
    private var entries: [Entry] = []
    /// The index of the entry that the next member should match.
    private var next = 0

    /// Creates a pattern of no members.
    package init() {}

    /// Returns the length of the bytes at `start` that match the pattern, and the name's index; nil if they match none.
    @inline(__always)
    private mutating func match(_ start: UnsafeRawPointer, end: UnsafeRawPointer) -> (length: Int, name: Int)? {
        let last = next == 0 ? 1 : next &+ Self.reach
        let room = Int(bitPattern: end) &- Int(bitPattern: start)
        var index = next
        while index < last, index < entries.count {
            let entry = entries[index]
            let count = Int(entry.count)
            index &+= 1
            let isSame = text.withUnsafeBytes { text in
                guard count <= room, let base = text.baseAddress else { return false }
                return RawBytes.areEqual(base + Int(entry.start), start, count: count)
            }
            if isSame {
                next = index
                return (count, Int(entry.name))
            }
        }
        return nil
    }

    /// Takes the bytes before a value that matched nothing and were valid there.
    @inline(never)
    private mutating func learn(_ bytes: UnsafeRawBufferPointer, name: Int) {
        let index = next
        next &+= 1
        if entries.count >= Self.maximumCount || text.count &+ bytes.count > Self.maximumLength {
            // The objects have changed, or have no order: the next one begins a new pattern.
            entries.removeAll(keepingCapacity: true)
            text.removeAll(keepingCapacity: true)
        }
        // A first member that varies is read every time. Behind a new beginning the rest of the object is not learnt.
        guard index <= entries.count, index > 0 || entries.isEmpty, bytes.count <= Self.maximumLength else { return }
        entries.insert(Entry(start: Int32(text.count), count: Int32(bytes.count), name: Int32(name)), at: index)
        text.append(contentsOf: bytes)
    }
}

extension MemberPattern {
    /// Steps into an object whose members are read with ``nextMember(of:in:)``.
    @inline(__always)
    package mutating func beginObject(of scanner: inout JSONScanner) throws(JSONError) {
        try scanner.beginObject()
        next = 0
    }

    /// Reads the name of the next member and stops behind its colon; the effect is that of `JSONScanner.nextMember()`.
    ///
    /// - Returns: The name's index in the table, −1 if the table lacks it; nil if the object ends.
    @inline(__always)
    package mutating func nextMember(of scanner: inout JSONScanner, in names: NameTable) throws(JSONError) -> Int? {
        if let (length, name) = match(scanner.cursor, end: scanner.end) {
            scanner.cursor += length
            return name
        }
        return try readMember(of: &scanner, in: names)
    }

    @inline(never)
    private mutating func readMember(of scanner: inout JSONScanner, in names: NameTable) throws(JSONError) -> Int? {
        let start = scanner.cursor
        guard let name = try scanner.nextMember() else { return nil }
        let index = names.index(of: name)
        learn(UnsafeRawBufferPointer(start: start, count: scanner.cursor - start), name: index)
        return index
    }

    /// Reads the object that comes next and puts every member's value whose name is in the table into its slot.
    ///
    /// The other members are validated and skipped. Of members with the same name the last one stays. The effect is
    /// that of `JSONScanner.nextMember()` and `value()` in turn, in one call for a whole object.
    ///
    /// - Parameters:
    ///   - scanner: The scanner, which stands before the object.
    ///   - names: The names that are wanted; always the same table for one pattern.
    ///   - targets: The slot of each name.
    ///   - slots: The slots; those of names that do not come stay unchanged.
    /// - Throws: ``JSONError`` if no object comes next or it is not valid.
    package mutating func readMembers(
        of scanner: inout JSONScanner, in names: NameTable, targets: [Int32],
        into slots: UnsafeMutableBufferPointer<JSONSlice?>
    ) throws(JSONError) {
        try beginObject(of: &scanner)
        while let index = try nextMember(of: &scanner, in: names) {
            let value = try scanner.nextValue()
            if index >= 0 { slots[Int(targets[index])] = value }
        }
    }
}
