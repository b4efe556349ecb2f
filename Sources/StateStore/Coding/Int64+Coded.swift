// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension Int64: Coded {
    /// Codes the number.
    package mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(&self) }
}

extension Int: Coded {
    /// Codes the number.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        var number = Int64(self)
        try coder.code(&number)
        self = Int(number)
    }
}

extension Bool: Coded {
    /// Codes the truth value as 0 or 1.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        var number: Int64 = self ? 1 : 0
        try coder.code(&number)
        guard number == 0 || number == 1 else { throw Coder.damage }
        self = number == 1
    }
}

extension String: Coded {
    /// Codes the text as UTF-8.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&self)
    }
}

extension Array: Coded where Element: Coded {
    /// Codes the elements in their order.
    package mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(&self) }
}

extension Optional: Coded where Wrapped: Coded {
    package init() { self = nil }

    /// Codes whether there is a value, and the value.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        var isThere = self != nil
        try coder.code(&isThere)
        guard isThere else { return self = nil }
        var value = self ?? Wrapped()
        try value.code(with: &coder)
        self = value
    }
}

extension Dictionary: Coded where Key: Coded & Comparable, Value: Coded {
    /// Codes the elements in the order of their keys.
    package mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(&self) }
}

extension Instant: Coded {
    package init() { self = 0 }

    /// Codes the milliseconds.
    package mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(&milliseconds) }
}

extension CheckpointVector: Coded {
    package init() { self.init([:]) }

    /// Codes the tokens.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        var tokens = tokens
        try coder.code(&tokens)
        self = CheckpointVector(tokens)
    }
}

struct CodedBytes: Coded {
    var bytes: [UInt8] = []

    mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(&bytes) }
}

extension Coder {
    mutating func code(_ value: inout [UInt8]?) throws(StateError) {
        var bytes = value.map(CodedBytes.init)
        try code(&bytes)
        value = bytes?.bytes
    }

    mutating func code<T: RawRepresentable>(raw value: inout T) throws(StateError) where T.RawValue: Coded {
        var raw = value.rawValue
        try raw.code(with: &self)
        guard let read = T(rawValue: raw) else { throw Self.damage }
        value = read
    }

    mutating func code(_ value: inout Cursor) throws(StateError) {
        var number: Cursor? = value
        try code(&number)
        guard let number else { throw Self.damage }
        value = number
    }

    /// Codes an optional cursor; no cursor is 0.
    mutating func code(_ value: inout Cursor?) throws(StateError) {
        var number = value?.rawValue ?? 0
        try code(&number)
        guard isReading else { return }
        value = number == 0 ? nil : Cursor(rawValue: number)
        if number != 0, value == nil { throw Self.damage }
    }
}
