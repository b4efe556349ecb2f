// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Ids by table and id, for hundreds of thousands of them: one array of bytes and one of places.
///
/// An entry costs its two ids, four bytes, and about eight of the table of places. Entries are found by a keyed hash,
/// so that nobody can choose ids that all fall into one place.
package struct PackedIDs: Sendable {
    /// The longest id in bytes.
    package static let maximumLength = 255
    private static let header = 4

    private let key: SipHash.Key
    /// By place, where an entry begins, and 1; 0 where there is none.
    ///
    /// A power of two of them, at most 3/4 in use.
    private var slots: [UInt32] = []
    /// Of each entry its table in two bytes, the lengths of id and value, the id and the value.
    private var bytes: [UInt8] = []
    /// How many places are in use, removed entries included.
    private var used = 0

    /// How many ids have a value.
    package private(set) var count = 0
    /// What it holds in memory, in bytes.
    package var byteCount: Int { slots.count * 4 + bytes.count }

    /// A map without entries.
    package init(key: SipHash.Key) { self.key = key }

    /// The value of an id.
    package subscript(table: Int, id: String) -> String? {
        var id = id
        return id.withUTF8 { id in
            withValue(table: table, id: UnsafeRawBufferPointer(id)) { value in
                value.map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    /// Calls `body` with the bytes of an id's value, or with nil.
    package func withValue<R>(
        table: Int, id: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) -> R
    ) -> R {
        bytes.withUnsafeBytes { bytes in
            guard let entry = find(table, id, in: bytes).entry else { return body(nil) }
            let start = entry + Self.header + Int(bytes[entry + 2])
            let count = Int(bytes[entry + 3])
            return body(count == 0 ? nil : UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
    }

    /// Gives an id a value, or takes it away with nil; ids that are empty or too long are not taken.
    package mutating func set(table: Int, id: String, to value: String?) {
        guard (1...Self.maximumLength).contains(id.utf8.count), UInt16(exactly: table) != nil,
            value.map({ (1...Self.maximumLength).contains($0.utf8.count) }) ?? true,
            bytes.count < Int(UInt32.max) - 1_024
        else { return }
        if used * 4 >= slots.count * 3 { grow() }
        var id = id
        let (slot, entry) = id.withUTF8 { id in
            bytes.withUnsafeBytes { find(table, UnsafeRawBufferPointer(id), in: $0) }
        }
        if let entry {
            let had = bytes[entry + 3] != 0
            count += (value == nil ? 0 : 1) - (had ? 1 : 0)
            guard let value else {
                bytes[entry + 3] = 0
                return
            }
            if had, value.utf8.count == Int(bytes[entry + 3]) {
                let start = entry + Self.header + Int(bytes[entry + 2])
                bytes.replaceSubrange(start..<start + value.utf8.count, with: value.utf8)
                return
            }
        } else if value == nil {
            return
        } else {
            count += 1
            used += 1
        }
        // One whose value has another length is written anew; the old bytes stay until the map is made anew.
        slots[slot] = UInt32(bytes.count) + 1
        append(table, id, value: value ?? "")
    }

    private mutating func append(_ table: Int, _ id: String, value: String) {
        bytes.append(UInt8(truncatingIfNeeded: table))
        bytes.append(UInt8(truncatingIfNeeded: table >> 8))
        bytes.append(UInt8(id.utf8.count))
        bytes.append(UInt8(value.utf8.count))
        bytes.append(contentsOf: id.utf8)
        bytes.append(contentsOf: value.utf8)
    }

    private func hash(_ table: Int, _ id: UnsafeRawBufferPointer) -> Int {
        let hash = SipHash.hash64(id, key: key) &+ UInt64(truncatingIfNeeded: table) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: hash >> 32)
    }

    /// The entry of an id and its place; without one the place where it belongs.
    private func find(_ table: Int, _ id: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> (
        slot: Int, entry: Int?
    ) {
        guard !slots.isEmpty else { return (0, nil) }
        let mask = slots.count - 1
        var slot = hash(table, id) & mask
        while slots[slot] != 0 {
            let entry = Int(slots[slot]) - 1
            if Int(bytes[entry + 2]) == id.count,
                Int(bytes[entry]) | Int(bytes[entry + 1]) << 8 == table,
                RawBytes.areEqual(
                    UnsafeRawBufferPointer(rebasing: bytes[entry + Self.header..<entry + Self.header + id.count]), id)
            {
                return (slot, entry)
            }
            slot = (slot + 1) & mask
        }
        return (slot, nil)
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: max(16, old.count * 2))
        let mask = slots.count - 1
        for place in old where place != 0 {
            let entry = Int(place) - 1
            let table = Int(bytes[entry]) | Int(bytes[entry + 1]) << 8
            let start = entry + Self.header
            var slot = bytes.withUnsafeBytes {
                hash(table, UnsafeRawBufferPointer(rebasing: $0[start..<start + Int($0[entry + 2])]))
            }
            slot &= mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = place
        }
    }
}
