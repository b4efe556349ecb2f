// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import SyncModel

/// Reads columns by their place in the SELECT list; a damaged file causes an error, not a trap.
extension Row {
    /// Returns an integer.
    func integer(_ index: Int) throws(StateError) -> Int64 {
        guard let value = try optionalInteger(index) else { throw Self.damaged }
        return value
    }

    /// Returns an integer, or nil for NULL.
    func optionalInteger(_ index: Int) throws(StateError) -> Int64? {
        let value: DatabaseValue = self[index]
        switch value.storage {
        case .int64(let integer): return integer
        case .null: return nil
        default: throw Self.damaged
        }
    }

    /// Returns a count or a number that only rises: 0 to 2^53, so that a few of them can be added without
    /// overflow.
    func number(_ index: Int) throws(StateError) -> Int64 {
        let value = try integer(index)
        guard (0...1 << 53).contains(value) else { throw Self.damaged }
        return value
    }

    /// Returns a moment from 1970 on.
    func time(_ index: Int) throws(StateError) -> Instant { Instant(milliseconds: try number(index)) }

    /// Returns a moment, which may be any.
    func instant(_ index: Int) throws(StateError) -> Instant { Instant(milliseconds: try integer(index)) }

    /// Returns a moment, or nil for NULL.
    func optionalInstant(_ index: Int) throws(StateError) -> Instant? {
        try optionalInteger(index).map(Instant.init(milliseconds:))
    }

    /// Returns a size or the growth of one: at most 2^40 either way, so that millions of them can be added without
    /// overflow.
    func amount(_ index: Int) throws(StateError) -> Int {
        let value = try integer(index)
        guard (-1 << 40...1 << 40).contains(value) else { throw Self.damaged }
        return Int(value)
    }

    /// Returns a text.
    func text(_ index: Int) throws(StateError) -> String {
        guard let value = try optionalText(index) else { throw Self.damaged }
        return value
    }

    /// Returns a text, or nil for NULL.
    func optionalText(_ index: Int) throws(StateError) -> String? {
        let value: DatabaseValue = self[index]
        switch value.storage {
        case .string(let text): return text
        case .null: return nil
        default: throw Self.damaged
        }
    }

    /// Returns bytes.
    func bytes(_ index: Int) throws(StateError) -> [UInt8] {
        let value: DatabaseValue = self[index]
        guard case .blob(let data) = value.storage else { throw Self.damaged }
        return Array(data)
    }

    private static var damaged: StateError { .corrupt("a column holds a value that it cannot have") }
}
