// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A value that a request states: query and body may both state it, and must not contradict each other.
enum Stated<Value: Equatable>: Equatable {
    /// The value is absent, empty or `undefined`, as the apps' libraries write missing values.
    case nothing
    /// The request states that there is no value: `null`.
    case none
    case value(Value)

    /// The value; nil if there is none.
    var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }

    /// Merges a further statement of the value.
    ///
    /// - Throws: `contradiction` if the two differ.
    mutating func merge(_ other: Stated, orThrow contradiction: WireError) throws(WireError) {
        if other == .nothing { return }
        guard self == .nothing || self == other else { throw contradiction }
        self = other
    }
}

extension Stated {
    /// Returns what the text of a parameter states; `read` reads a text that is neither empty nor `null`.
    static func reading(_ text: [UInt8], with read: ([UInt8]) throws(WireError) -> Stated) throws(WireError) -> Stated {
        let trimmed = text.trimmingSpaces()
        if trimmed.isEmpty || trimmed.elementsEqual("undefined".utf8) { return .nothing }
        if trimmed.elementsEqual("null".utf8) { return .none }
        return try read(Array(trimmed))
    }
}

extension [UInt8] {
    /// Returns the bytes without leading and trailing white space.
    func trimmingSpaces() -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        var trimmed = drop(while: isSpace)
        while let last = trimmed.last, isSpace(last) { trimmed.removeLast() }
        return trimmed
    }
}
