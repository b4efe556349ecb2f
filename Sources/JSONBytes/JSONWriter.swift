// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Appends JSON to a growing buffer of bytes.
///
/// The writer makes every string, number and literal valid; the caller writes commas, colons and brackets, because the
/// caller knows the shape of the document.
package struct JSONWriter {
    /// The bytes that have been written so far.
    package var bytes: [UInt8] = []

    /// Creates an empty writer.
    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// The number of bytes that have been written.
    package var count: Int { bytes.count }

    /// Forgets the written bytes and keeps the memory.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Forgets the written bytes from an offset on.
    package mutating func truncate(to count: Int) {
        if count < bytes.count { bytes.removeLast(bytes.count - count) }
    }

    /// Appends one byte as it is.
    package mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Appends valid JSON or punctuation as it is.
    @inline(__always)
    package mutating func append(raw: UnsafeRawBufferPointer) {
        guard let source = raw.baseAddress else { return }
        append(atMost: raw.count) { target in
            RawBytes.copy(source, to: target, count: raw.count)
            return raw.count
        }
    }

    /// Appends two texts, each valid JSON or punctuation, as they are.
    @inline(__always)
    package mutating func append(raw first: UnsafeRawBufferPointer, then second: UnsafeRawBufferPointer) {
        guard let firstSource = first.baseAddress, let secondSource = second.baseAddress else {
            append(raw: first)
            return append(raw: second)
        }
        append(atMost: first.count &+ second.count) { target in
            RawBytes.copy(firstSource, to: target, count: first.count)
            RawBytes.copy(secondSource, to: target + first.count, count: second.count)
            return first.count &+ second.count
        }
    }

    /// Appends the bytes that `body` writes; it returns how many they are, no more than `limit`.
    @inline(__always)
    private mutating func append(atMost limit: Int, _ body: (UnsafeMutableRawPointer) -> Int) {
        bytes.append(addingCapacity: limit) { span in
            span.withUnsafeMutableBufferPointer { buffer, count in
                guard let base = buffer.baseAddress else { return }
                count = body(UnsafeMutableRawPointer(base))
            }
        }
    }

    /// Appends valid JSON or punctuation as it is.
    package mutating func append(raw: [UInt8]) { bytes.append(contentsOf: raw) }

    /// Appends valid JSON or punctuation as it is.
    package mutating func append(raw: StaticString) {
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: raw.utf8Start, count: raw.utf8CodeUnitCount))
    }

    /// Appends `null`.
    package mutating func appendNull() { append(raw: "null") }

    /// Appends `true` or `false`.
    package mutating func append(_ value: Bool) { append(raw: value ? "true" : "false") }

    /// Appends an integer in decimal digits.
    package mutating func append(_ value: Int64) {
        let magnitude = value.magnitude
        var count = DecimalDigits.count(of: magnitude)
        if value < 0 { count += 1 }
        append(atMost: count) { target in
            if value < 0 { target.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self) }
            DecimalDigits.write(magnitude, endingAt: target + count)
            return count
        }
    }

    /// Appends an integer in decimal digits.
    package mutating func append(_ value: Int) { append(Int64(value)) }

    /// Appends the shortest spelling that reads back as the same double.
    ///
    /// −0 becomes `0`. Infinities and NaN have no spelling in JSON and become `null`, as in JavaScript.
    package mutating func append(_ value: Double) {
        guard value.isFinite else { return appendNull() }
        if value.magnitude <= 0x1p53, Double(Int64(value)) == value { return append(Int64(value)) }
        bytes.append(contentsOf: value.description.utf8)
        // Large integers have a superfluous fraction in Swift's spelling.
        if bytes.suffix(2).elementsEqual([UInt8(ascii: "."), UInt8(ascii: "0")]) { bytes.removeLast(2) }
    }

    /// Appends a scanned value as it is spelled; only lone surrogates are repaired, and `-0` becomes `0`.
    ///
    /// Inside of arrays and objects nothing is repaired: they are copied byte by byte.
    package mutating func append(_ slice: JSONSlice) {
        switch slice.kind {
        case .string: append(stringSlice: slice)
        case .number where slice.isNegativeZero: bytes.append(UInt8(ascii: "0"))
        default: append(raw: slice.bytes)
        }
    }
}
