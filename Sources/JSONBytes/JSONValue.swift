// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A JSON document in memory, for small documents: lists of checkpoints, answers to calls, migrations.
///
/// Stream lines and records are never read into a `JSONValue`; they are read with ``JSONScanner``.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number that keeps its spelling, so that no digit is lost.
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    /// The members in the order of the document, each name once.
    case object([Member])

    /// One member of an object.
    package struct Member: Hashable, Sendable {
        /// The member's name, escapes resolved.
        package var name: String
        /// The member's value.
        package var value: JSONValue
        /// Creates a member.
        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Returns the value of the member with this name; nil if there is none or if this is no object.
    package subscript(name: String) -> JSONValue? {
        members?.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Returns the element at this index, from 0; nil if there is none or if this is no array.
    package subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// True if the value is `null`.
    package var isNull: Bool { if case .null = self { true } else { false } }
    /// The truth value; nil for other kinds.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The text; nil for other kinds.
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number; nil for other kinds.
    package var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
    /// The integer; nil unless the value is a number that is spelled as an integer and fits.
    package var int64: Int64? { number?.int64 }
    /// The nearest double; nil for other kinds and if the double is not finite.
    package var double: Double? { number?.double }
    /// The elements; nil for other kinds.
    package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// The members; nil for other kinds.
    package var members: [Member]? { if case .object(let value) = self { value } else { nil } }
    /// The kind of the value.
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

    /// Returns a finite double as a JSON number, and null for any other.
    package static func number(_ value: Double) -> JSONValue { JSONNumber(value).map { .number($0) } ?? .null }

    /// Returns an integer as a JSON number.
    package static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
}

// Strings are compared by their bytes: in Swift, texts in different normal forms are equal; in JSON, they are not.
extension JSONValue: Hashable {
    /// Returns whether both have the same structure, texts and spelling of numbers; the order of members counts.
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

    /// Feeds the hasher with the parts that ``==(_:_:)`` compares.
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
