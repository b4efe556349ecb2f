// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Entity.Field {
    /// Returns the value that the database stores for a value that a client sent.
    ///
    /// - Throws: ``InvalidMember`` with one sentence if the value cannot be stored.
    func databaseValue(of value: DemoValue) throws(InvalidMember) -> DatabaseValue {
        if case .null = value {
            guard isOptional else { throw InvalidMember("\(name) must not be null") }
            return .null
        }
        switch (kind, value) {
        case (.string, .string(let text)):
            guard !text.utf8.contains(0) else { throw InvalidMember("\(name) contains a NUL character") }
            return text.databaseValue
        case (.integer, .number(let number)):
            guard let whole = Int64(exactly: number) else { throw InvalidMember("\(name) must be a whole number") }
            return whole.databaseValue
        case (.number, .number(let number)): return Self.databaseValue(of: number)
        case (.boolean, .bool(let flag)): return flag.databaseValue
        case (.date, .number(let number)): return Self.databaseValue(of: number)
        case (.date, .string(let text)):
            guard let moment = ISO8601.milliseconds(of: text) else {
                throw InvalidMember("\(name) is no ISO 8601 date")
            }
            return Self.databaseValue(of: moment)
        case (.object, .object), (.object, .array): return value.json.databaseValue
        default: throw InvalidMember("\(name) must be a \(kind.rawValue)")
        }
    }

    /// Returns the value that is sent for a value of the database.
    func value(of stored: DatabaseValue) -> DemoValue {
        switch kind {
        case .string: String.fromDatabaseValue(stored).map(DemoValue.string) ?? .null
        case .number, .integer: Double.fromDatabaseValue(stored).map(DemoValue.number) ?? .null
        case .boolean: Bool.fromDatabaseValue(stored).map(DemoValue.bool) ?? .null
        case .date:
            Double.fromDatabaseValue(stored)
                .map { moment in ISO8601.text(of: moment).map(DemoValue.string) ?? .number(moment) } ?? .null
        case .object: String.fromDatabaseValue(stored).flatMap { DemoValue(parsing: $0.utf8) } ?? .null
        }
    }

    private static func databaseValue(of number: Double) -> DatabaseValue {
        Int64(exactly: number).map(\.databaseValue) ?? number.databaseValue
    }
}

extension Entity {
    /// Returns all members of a record, in the order in which they are written.
    func members(of row: Row) -> DemoMembers {
        (keys + fields).map { ($0.name, $0.value(of: row[$0.column])) }
    }
}

/// The error of a member that cannot be stored, with one sentence as the reason.
struct InvalidMember: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
