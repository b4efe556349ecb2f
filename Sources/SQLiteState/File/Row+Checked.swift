// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

/// Reading columns by their place in the SELECT list, where a damaged file gives an error and not a trap.
extension Row {
    /// An integer.
    func integer(_ index: Int) throws(StateError) -> Int64 {
        guard let value = try optionalInteger(index) else { throw Self.damaged }
        return value
    }

    /// An integer or NULL.
    func optionalInteger(_ index: Int) throws(StateError) -> Int64? {
        let value: DatabaseValue = self[index]
        switch value.storage {
        case .int64(let integer): return integer
        case .null: return nil
        default: throw Self.damaged
        }
    }

    /// A count, a time or a number that only rises: 0 to 2^53, so that a sum of a few of them is a number, too.
    func number(_ index: Int) throws(StateError) -> Int64 {
        let value = try integer(index)
        guard (0...1 << 53).contains(value) else { throw Self.damaged }
        return value
    }

    /// A size, or how much one has grown: so small that millions of them add up to a number.
    func amount(_ index: Int) throws(StateError) -> Int {
        let value = try integer(index)
        guard (-1 << 40...1 << 40).contains(value) else { throw Self.damaged }
        return Int(value)
    }

    /// A text.
    func text(_ index: Int) throws(StateError) -> String {
        guard let value = try optionalText(index) else { throw Self.damaged }
        return value
    }

    /// A text or NULL.
    func optionalText(_ index: Int) throws(StateError) -> String? {
        let value: DatabaseValue = self[index]
        switch value.storage {
        case .string(let text): return text
        case .null: return nil
        default: throw Self.damaged
        }
    }

    /// Bytes.
    func bytes(_ index: Int) throws(StateError) -> [UInt8] {
        let value: DatabaseValue = self[index]
        guard case .blob(let data) = value.storage else { throw Self.damaged }
        return Array(data)
    }

    private static var damaged: StateError { .corrupt("a column holds a value that it cannot have") }
}
