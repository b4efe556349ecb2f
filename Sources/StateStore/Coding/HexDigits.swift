// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A text that is mostly lower case hexadecimal digits, and then takes half as many bytes.
struct HexDigits: Hashable, Comparable, Coded {
    var text: String

    init() { text = "" }

    init(_ text: String) { self.text = text }

    static func < (a: Self, b: Self) -> Bool { a.text < b.text }

    mutating func code(with coder: inout Coder) throws(StateError) {
        var (isHex, bytes) = (true, coder.isReading ? [] : Self.pack(text) ?? [])
        if !coder.isReading { isHex = !bytes.isEmpty }
        try coder.code(&isHex)
        guard isHex else { return try coder.code(&text) }
        try coder.code(&bytes)
        guard coder.isReading else { return }
        text = String(
            decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func pack(_ text: String) -> [UInt8]? {
        var (packed, high): ([UInt8], UInt8?) = ([], nil)
        packed.reserveCapacity(text.utf8.count / 2)
        for digit in text.utf8 {
            guard let value = digit.hexValue else { return nil }
            if let first = high { packed.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return high == nil ? packed : nil
    }
}

extension UInt8 {
    /// The value of a lower case hexadecimal digit; nil for another byte.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension Coder {
    /// Codes a dictionary whose keys are mostly hexadecimal digits.
    mutating func code<V: Coded>(hex values: inout [String: V]) throws(StateError) {
        var coded: [HexDigits: V] = [:]
        if !isReading { for (key, value) in values { coded[HexDigits(key)] = value } }
        try code(&coded)
        if isReading { values = Dictionary(coded.map { ($0.key.text, $0.value) }, uniquingKeysWith: { $1 }) }
    }

    mutating func code(hex text: inout String) throws(StateError) {
        var digits = HexDigits(text)
        try code(&digits)
        text = digits.text
    }
}
