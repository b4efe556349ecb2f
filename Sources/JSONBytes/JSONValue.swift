// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A JSON document in memory, for small documents: lists of checkpoints, answers to calls, migrations.
///
/// Stream lines and records never become one of these; they are read with ``JSONScanner``.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// Keeps its spelling, so that no digit is lost.
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    /// In the order of the document, each name once.
    case object([Member])

    /// One member of an object.
    package struct Member: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Its value.
        package var value: JSONValue
        /// A member.
        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member with this name; nil where there is none or where this is no object.
    package subscript(name: String) -> JSONValue? {
        members?.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The element at this place; nil where there is none or where this is no array.
    package subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// Whether it is `null`.
    package var isNull: Bool { if case .null = self { true } else { false } }
    /// The truth value, where it is one.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The text, where it is a string.
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number, where it is one.
    package var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
    /// The integer, where it is a number that is spelled as one and fits.
    package var int64: Int64? { number?.int64 }
    /// The finite double, where it is a number.
    package var double: Double? { number?.double }
    /// The elements, where it is an array.
    package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// The members, where it is an object.
    package var members: [Member]? { if case .object(let value) = self { value } else { nil } }
    /// Its kind.
    package var kind: JSONKind {
        switch self {
        case .null: .null
        case .bool: .boolean
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// An integer.
    package static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
}

// Strings are compared by their bytes: Swift takes texts in different normal forms for equal, JSON does not.
extension JSONValue: Hashable {
    /// Whether both have the same structure, the same texts and equally spelled numbers; the order of members counts.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)):
            left.elementsEqual(right) { $0.name.utf8.elementsEqual($1.name.utf8) && $0.value == $1.value }
        default: false
        }
    }

    /// Feeds what ``==(_:_:)`` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .array(let values): hasher.combine(values)
        case .object(let members): hasher.combine(members)
        }
    }
}
