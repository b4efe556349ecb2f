// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

extension PostgresRow {
    /// Returns a count or a number that only rises: 0 to 2^53, so that a few of them can be added without overflow.
    func number(_ index: Int) throws -> Int64 {
        let value = try integer(index)
        guard (0...1 << 53).contains(value) else { throw PostgresError.unexpectedValue(column: index) }
        return value
    }

    /// Returns a size or the growth of one: at most 2^40 either way, so that millions of them can be added without
    /// overflow.
    func amount(_ index: Int) throws -> Int {
        let value = try integer(index)
        guard (-1 << 40...1 << 40).contains(value) else { throw PostgresError.unexpectedValue(column: index) }
        return Int(value)
    }

    /// Returns a moment, which may be any.
    func instant(_ index: Int) throws -> Instant { Instant(milliseconds: try integer(index)) }

    /// Returns a moment from 1970 on, which may be reckoned with.
    func instantSince1970(_ index: Int) throws -> Instant { Instant(milliseconds: try number(index)) }

    /// Returns a moment, or nil for NULL.
    func optionalInstant(_ index: Int) throws -> Instant? {
        try optionalInteger(index).map(Instant.init(milliseconds:))
    }

    /// Returns a cursor; nil for NULL, and for a number that none can have.
    func cursor(_ index: Int) throws -> Cursor? { try optionalInteger(index).flatMap(Cursor.init(rawValue:)) }

    /// Returns a number that fits into an `Int`, or nil for NULL.
    func optionalInt(_ index: Int) throws -> Int? { try optionalInteger(index).map(Int.init) }

    /// Returns a text that is stored as bytes.
    func recordID(_ index: Int) throws -> String { String(decoding: try bytes(index), as: UTF8.self) }

    /// Returns a principal: its digest, and from a second column on the user and the scope that it was made from.
    func principal(_ digest: Int, origin: Int) throws -> Principal {
        guard let user = try optionalText(origin), let scope = try optionalText(origin + 1) else {
            return Principal(rawValue: try text(digest))
        }
        return Principal(rawValue: try text(digest), origin: Principal.Origin(user: user, scope: scope))
    }

    /// Returns a kind of change.
    func kind(_ index: Int) throws -> OperationKind {
        guard let kind = OperationKind(rawValue: try text(index)) else {
            throw StateError.corrupt("an operation is of no kind")
        }
        return kind
    }
}

extension PostgresParameter {
    /// Returns an `int8` with the milliseconds of a moment.
    static func instant(_ value: Instant?) -> Self { .integer(value?.milliseconds) }

    /// Returns an `int8`.
    static func int(_ value: Int?) -> Self { .integer(value.map { Int64($0) }) }

    /// Returns an `int8` with a cursor.
    static func cursor(_ value: Cursor?) -> Self { .integer(value?.rawValue) }

    /// Returns a `text` with a checked principal.
    static func principal(_ value: Principal) throws(StateError) -> Self { .text(try key(value.rawValue, "principal")) }

    /// Returns a `text` with a checked name of a table.
    static func table(_ name: String) throws(StateError) -> Self { .text(try key(name, "table")) }

    /// Returns a `bytea` with an id, which may be any text.
    static func recordID(_ id: String) -> Self { .bytes(Array(id.utf8)) }
}

extension [PostgresResult] {
    /// Returns the rows of one of the results.
    func rows(_ index: Int) -> [PostgresRow] { indices.contains(index) ? self[index].rows : [] }

    /// Returns the first row of one of the results.
    func row(_ index: Int) -> PostgresRow? { rows(index).first }
}
