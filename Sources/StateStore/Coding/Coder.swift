// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Writes values as bytes, or reads them: each value says once which parts it has, and in which order.
///
/// A number takes as few bytes as it needs; texts and lists begin with their lengths. What is read is not trusted:
/// whatever the bytes are, the result is a value or ``StateError/corrupt(_:)``.
package struct Coder {
    /// The bytes that were written, or those that are left to read.
    package private(set) var bytes: [UInt8]
    private var offset = 0
    /// True if values are read.
    package let isReading: Bool

    /// Creates a coder that writes.
    package init() {
        bytes = []
        bytes.reserveCapacity(2_048)
        isReading = false
    }

    /// Creates a coder that reads.
    package init(reading bytes: [UInt8]) {
        self.bytes = bytes
        isReading = true
    }

    private static let version: UInt8 = 1

    /// Creates a coder that reads what ``sealed`` has returned.
    init(opening bytes: [UInt8]) throws(StateError) {
        guard bytes.count >= 5, bytes[0] == Self.version else { throw Self.damage }
        self.init(reading: bytes)
        offset = 5
        let sum = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[1 + $1]) << UInt32($1 * 8) }
        guard sum == Self.checksum(bytes[5...]) else { throw Self.damage }
    }

    /// Returns true if bytes fit their checksum.
    package static func isIntact(_ bytes: [UInt8]) -> Bool { (try? Coder(opening: bytes)) != nil }

    /// The bytes that were written, behind the version of the coding and a checksum.
    var sealed: [UInt8] {
        let sum = Self.checksum(bytes[...])
        return Array(unsafeUninitializedCapacity: 5 + bytes.count) { sealed, count in
            sealed[0] = Self.version
            for index in 0..<4 { sealed[1 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(index * 8)) }
            count = sealed[5...].update(fromContentsOf: bytes)
        }
    }

    /// Returns 32 bits against accidents, not against attackers.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let sum = bytes.fnv
        return UInt32(truncatingIfNeeded: sum ^ sum >> 32)
    }

    /// True if nothing is left to read.
    package var isAtEnd: Bool { offset == bytes.count }

    /// Codes a number.
    package mutating func code(_ number: inout Int64) throws(StateError) {
        guard isReading else {
            var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
            return
        }
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = try next()
            guard shift < 63 || byte <= 1 else { throw Self.damage }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        number = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Codes a number whose bits are spread evenly, as eight bytes.
    mutating func code(whole number: inout UInt64) throws(StateError) {
        guard isReading else {
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(56 - index * 8))) }
            return
        }
        var read: UInt64 = 0
        for _ in 0..<8 { read = read << 8 | UInt64(try next()) }
        number = read
    }

    /// Codes a byte string.
    package mutating func code(_ value: inout [UInt8]) throws(StateError) {
        var count = Int64(value.count)
        try code(&count)
        guard isReading else {
            bytes.append(contentsOf: value)
            return
        }
        guard count >= 0, count <= Int64(bytes.count - offset) else { throw Self.damage }
        value = Array(bytes[offset..<offset + Int(count)])
        offset += Int(count)
    }

    /// Writes a text, or reads one.
    mutating func code(_ text: inout String) throws(StateError) {
        guard isReading else {
            var count = Int64(text.utf8.count)
            try code(&count)
            return bytes.append(contentsOf: text.utf8)
        }
        var read: [UInt8] = []
        try code(&read)
        guard let valid = String(validating: read, as: UTF8.self) else { throw Self.damage }
        text = valid
    }

    /// Codes the number of a list's elements; no list has more than there are bytes.
    package mutating func code(count: inout Int) throws(StateError) {
        var number = Int64(count)
        try code(&number)
        guard isReading else { return }
        guard number >= 0, number <= Int64(bytes.count - offset) else { throw Self.damage }
        count = Int(number)
    }

    /// Codes what a newer gateway has appended to a value: an older one keeps it as it is, and writes it back.
    mutating func code(rest: inout [UInt8]) {
        if isReading { (rest, offset) = (Array(bytes[offset...]), bytes.count) } else { bytes += rest }
    }

    private mutating func next() throws(StateError) -> UInt8 {
        guard offset < bytes.count else { throw Self.damage }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// The error for bytes that are no such value.
    package static var damage: StateError { .corrupt("a value cannot be read") }
}

/// A value that can be coded.
package protocol Coded {
    /// Creates any value, for a coder to read into.
    init()
    /// Codes all parts in their order.
    mutating func code(with coder: inout Coder) throws(StateError)
}

extension Coder {
    /// Codes a value.
    package mutating func code(_ value: inout some Coded) throws(StateError) { try value.code(with: &self) }

    /// Codes values in their order.
    mutating func code(_ a: inout some Coded, _ b: inout some Coded) throws(StateError) {
        try code(&a)
        try code(&b)
    }

    mutating func code(
        _ a: inout some Coded, _ b: inout some Coded, _ c: inout some Coded
    ) throws(StateError) {
        try code(&a, &b)
        try code(&c)
    }

    mutating func code(
        _ a: inout some Coded, _ b: inout some Coded, _ c: inout some Coded, _ d: inout some Coded
    ) throws(StateError) {
        try code(&a, &b)
        try code(&c, &d)
    }

    mutating func code(
        _ a: inout some Coded, _ b: inout some Coded, _ c: inout some Coded, _ d: inout some Coded,
        _ e: inout some Coded
    ) throws(StateError) {
        try code(&a, &b)
        try code(&c, &d, &e)
    }

    /// Codes a list.
    package mutating func code<T: Coded>(_ values: inout [T]) throws(StateError) {
        var count = values.count
        try code(count: &count)
        guard isReading else {
            for var value in values { try value.code(with: &self) }
            return
        }
        values = []
        for _ in 0..<count {
            var value = T()
            try value.code(with: &self)
            values.append(value)
        }
    }

    private mutating func codeElement<K: Coded & Hashable, V: Coded>(_ key: K, of values: [K: V]) throws(StateError) {
        guard var value = values[key] else { return }
        var key = key
        try key.code(with: &self)
        try value.code(with: &self)
    }

    /// Codes a dictionary in the order of its keys, so that equal ones have equal bytes.
    package mutating func code<K: Coded & Hashable & Comparable, V: Coded>(
        _ values: inout [K: V]
    ) throws(StateError) {
        var count = values.count
        try code(count: &count)
        guard isReading else {
            guard count <= 3 else {
                for key in values.keys.sorted() { try codeElement(key, of: values) }
                return
            }
            // Most have so few elements that their order needs no list.
            var last: K?
            while let key = values.keys.lazy.filter({ key in last.map { $0 < key } ?? true }).min() {
                try codeElement(key, of: values)
                last = key
            }
            return
        }
        values = [:]
        for _ in 0..<count {
            var (key, value) = (K(), V())
            try key.code(with: &self)
            try value.code(with: &self)
            values[key] = value
        }
    }
}

extension Coded {
    /// Returns the value's bytes: the version of the coding, a checksum, and the parts.
    package func encoded() throws(StateError) -> [UInt8] {
        var (coder, value) = (Coder(), self)
        try value.code(with: &coder)
        return coder.sealed
    }

    /// Reads a value from all of the bytes.
    package init(decoding bytes: [UInt8]) throws(StateError) {
        self.init()
        var coder = try Coder(opening: bytes)
        try code(with: &coder)
        guard coder.isAtEnd else { throw Coder.damage }
    }
}

extension Sequence<UInt8> {
    /// The FNV-1a hash of the bytes: 64 bits against accidents, not against attackers.
    var fnv: UInt64 {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in self { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return sum
    }
}
