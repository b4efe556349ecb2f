// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The value of one argument: query and body may both have it, and must not contradict each other.
enum Told<Value: Equatable>: Equatable {
    /// It isn't there, or is empty or `undefined`, as the apps' libraries write what is missing.
    case nothing
    /// It is there, and says that there is no value: `null`.
    case none
    case value(Value)

    /// The value, where there is one.
    var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }

    /// Takes a further statement in.
    ///
    /// - Throws: `contradiction` where the two differ.
    mutating func merge(_ other: Told, orThrow contradiction: WireError) throws(WireError) {
        if other == .nothing { return }
        guard self == .nothing || self == other else { throw contradiction }
        self = other
    }
}

extension Told {
    /// Returns the value of a parameter's text, which `read` reads.
    static func reading(_ text: [UInt8], with read: ([UInt8]) throws(WireError) -> Told) throws(WireError) -> Told {
        let trimmed = text.trimmingSpaces()
        if trimmed.isEmpty || trimmed.elementsEqual("undefined".utf8) { return .nothing }
        if trimmed.elementsEqual("null".utf8) { return .none }
        return try read(Array(trimmed))
    }
}

extension [UInt8] {
    /// Returns the bytes without white space before and behind them.
    func trimmingSpaces() -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        var trimmed = drop(while: isSpace)
        while let last = trimmed.last, isSpace(last) { trimmed.removeLast() }
        return trimmed
    }
}
