// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// A map from table and id to an id, for hundreds of thousands of ids: one array of bytes and one of slots.
///
/// An entry costs its two ids, four bytes, and about eight bytes of the slots. Entries are found by a keyed hash, so
/// that no client can choose ids that all fall into one slot.
package struct PackedIDs: Sendable {
    /// The longest id in bytes.
    package static let maximumLength = 255
    private static let header = 4

    private let key: SipHash.Key
    /// The offset of each slot's entry in `bytes` plus 1; 0 for an empty slot.
    ///
    /// The number of slots is a power of two; at most 3/4 are in use.
    private var slots: [UInt32] = []
    /// The entries: the table in two bytes, the lengths of id and value in one byte each, the id and the value.
    private var bytes: [UInt8] = []
    /// The number of slots in use, removed entries included.
    private var used = 0

    /// The number of ids that have a value.
    package private(set) var count = 0
    /// The memory that the map holds, in bytes.
    package var byteCount: Int { slots.count * 4 + bytes.count }

    /// Creates a map without entries.
    package init(key: SipHash.Key) { self.key = key }

    /// Returns the value of an id; nil if it has none.
    package subscript(table: Int, id: String) -> String? {
        var id = id
        return id.withUTF8 { id in
            withValue(table: table, id: UnsafeRawBufferPointer(id)) { value in
                value.map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    /// Calls `body` with the bytes of an id's value, or with nil if it has none.
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

    /// Gives an id a value, or with nil removes the value; an id or value that is empty or too long changes nothing.
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
        // An entry whose value has another length is written anew; its old bytes stay as long as the map exists.
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

    /// Returns the slot and the entry of an id; without an entry the slot where it belongs.
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
        for shifted in old where shifted != 0 {
            let entry = Int(shifted) - 1
            let table = Int(bytes[entry]) | Int(bytes[entry + 1]) << 8
            let start = entry + Self.header
            var slot = bytes.withUnsafeBytes {
                hash(table, UnsafeRawBufferPointer(rebasing: $0[start..<start + Int($0[entry + 2])]))
            }
            slot &= mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = shifted
        }
    }
}
