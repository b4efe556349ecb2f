// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Hashes a record as the client sees it: the typed values of its columns, independent of their order and spelling.
///
/// Every column that differs from its default is hashed by itself, as SipHash-1-3 of
///
///     kind of the value | length of the name << 8, the name padded to words, the value
///
/// and the hash of the record is the sum of these parts. A sum needs no order, so columns are hashed while they are
/// written. The sum is as good as one hash over all columns: each part contains its column's name, so two different
/// records differ in at least one part, and to an attacker without the key the parts are independent random numbers;
/// sums of different parts are equal with the chance of two random numbers. An attacker cannot search for such parts,
/// because no hash ever leaves the gateway. The fixed words of a part come first and are hashed once (`seeds`).
///
/// Equal hashes are taken for equal contents, and the newer content is dropped. The chance that the contents differ all
/// the same is 1 to 1.8 · 10^19 for each record that is compared: a thousand devices of a million records each that
/// compare everything once a day would lose one change in 50 million years.
///
/// Hashes are stored: any change to how they are computed makes every record of every device count as changed once.
struct ContentHasher: Sendable {
    /// The kinds of values, as the client sees them; the raw values are part of the hash.
    enum Kind: UInt64 {
        case string = 1
        /// A number, or a timestamp, which is a number to the client.
        case number = 2
        case boolean = 3
        /// A string of JSON to the client, hashed by its meaning.
        case json = 4

        init(_ type: ColumnType) {
            switch type {
            case .string: self = .string
            case .number, .timestamp: self = .number
            case .boolean: self = .boolean
            case .json: self = .json
            }
        }
    }

    /// The properties of a column that its hash depends on; columns of different tables may share them.
    struct ColumnIdentity: Hashable, Sendable {
        let name: [UInt8]
        let kind: Kind
    }

    /// The hash of the columns that were added since ``begin()``.
    private(set) var value: UInt64

    private let empty: UInt64
    /// The states that have absorbed the fixed words of a part, by the number of the column's identity.
    private let seeds: [SipHash]
    private var json: JSONHasher
    /// The buffer in which the escapes of a text are resolved.
    private var text: [UInt8] = []

    /// Creates a hasher of the columns with these identities.
    init(_ identities: [ColumnIdentity], key: SipHash.Key) {
        seeds = identities.map { Self.seed($0, key) }
        json = JSONHasher(key: key)
        // A record whose columns all have their defaults has a hash too, and it is not 0.
        empty = SipHash.hash64(UnsafeRawBufferPointer(start: nil, count: 0), key: key)
        value = empty
    }

    private static func seed(_ identity: ColumnIdentity, _ key: SipHash.Key) -> SipHash {
        var state = SipHash(key)
        state.absorb(identity.kind.rawValue | UInt64(identity.name.count) << 8, .short)
        for start in stride(from: 0, to: identity.name.count, by: 8) {
            let bytes = identity.name[start..<min(start + 8, identity.name.count)]
            state.absorb(bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }, .short)
        }
        return state
    }

    /// Begins the next record.
    @inline(__always)
    mutating func begin() { value = empty }

    /// Adds the part of a value that never changes, as ``part(of:seed:isOptional:)`` returned it.
    @inline(__always)
    mutating func add(part: UInt64) { value &+= part }

    /// Adds a column.
    @inline(__always)
    mutating func add(_ column: ColumnValue, seed: Int, isOptional: Bool) {
        value &+= part(of: column, seed: seed, isOptional: isOptional)
    }

    /// Returns the part that a column contributes; 0 if the column has its default.
    @inline(__always)
    mutating func part(of column: ColumnValue, seed: Int, isOptional: Bool) -> UInt64 {
        switch column {
        case .string(let slice):
            if slice.hasEscapes { return part(ofEscaped: slice, seed: seed) }
            let text = slice.content
            return text.isEmpty && !isOptional ? 0 : seeds[seed].hash(of: text, .short)
        case .text(let text): return seeds[seed].hash(of: text, .short)
        case .number(let slice): return part(ofNumber: slice.hashedDouble, seed: seed, isOptional: isOptional)
        case .double(let value): return part(ofNumber: value, seed: seed, isOptional: isOptional)
        case .milliseconds(let value, _): return part(ofNumber: Double(value), seed: seed, isOptional: isOptional)
        case .boolean(let value): return value || isOptional ? seeds[seed].hash(of: value ? 1 : 0, .short) : 0
        case .json(let slice): return seeds[seed].hash(of: json.hash(of: slice), .short)
        case .null, .absent, .wrong: return 0
        }
    }

    @inline(__always)
    private func part(ofNumber number: Double, seed: Int, isOptional: Bool) -> UInt64 {
        // −0 is 0.
        if number == 0 { return isOptional ? seeds[seed].hash(of: 0, .short) : 0 }
        return seeds[seed].hash(of: number.bitPattern, .short)
    }

    /// Returns the part of a text with escapes, which cannot be empty, since an escape denotes a character.
    @inline(never)
    private mutating func part(ofEscaped slice: JSONSlice, seed: Int) -> UInt64 {
        text.removeAll(keepingCapacity: text.capacity <= 1 << 16)
        slice.appendUnescaped(to: &text)
        return text.withUnsafeBytes { seeds[seed].hash(of: $0, .short) }
    }

    /// Returns the part of a `json` column whose text the configuration gives.
    mutating func part(ofJSONText text: UnsafeRawBufferPointer, seed: Int, isOptional: Bool) -> UInt64 {
        if text.isEmpty, !isOptional { return 0 }
        if let slice = try? JSONScanner.document(text) { return part(of: .json(slice), seed: seed, isOptional: true) }
        return seeds[seed].hash(of: text, .short)
    }
}

extension JSONSlice {
    /// The nearest double of a number that is finite as a double.
    ///
    /// Up to 15 digits are the quotient of two numbers that doubles hold exactly, so that the result is rounded once
    /// (Clinger, "How to read floating point numbers accurately", 1990); almost no number takes the slower way.
    @inline(__always)
    var hashedDouble: Double {
        let spelling = bytes
        guard spelling.count <= 17 else { return double ?? 0 }
        var mantissa: UInt64 = 0
        var digits = 0
        var fraction = -1
        for index in 0..<spelling.count {
            let digit = spelling[index] &- UInt8(ascii: "0")
            if digit < 10 {
                mantissa = mantissa &* 10 &+ UInt64(digit)
                digits &+= 1
                if fraction >= 0 { fraction &+= 1 }
            } else if spelling[index] == UInt8(ascii: ".") {
                fraction = 0
            } else if spelling[index] != UInt8(ascii: "-") || index > 0 {
                return double ?? 0
            }
        }
        guard digits <= 15 else { return double ?? 0 }
        var value = Double(mantissa)
        if fraction > 0 { value /= Self.powerOfTen(fraction) }
        return spelling[0] == UInt8(ascii: "-") ? -value : value
    }

    /// Returns 10 to a power of up to 15, exactly.
    private static func powerOfTen(_ power: Int) -> Double {
        var result = 1.0
        for _ in 0..<power { result *= 10 }
        return result
    }
}
