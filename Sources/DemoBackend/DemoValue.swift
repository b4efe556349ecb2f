// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A JSON value, for request bodies, records and the assertions of tests.
package enum DemoValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([DemoValue])
    case object([String: DemoValue])

    /// Reads one JSON document; nil if the bytes are none.
    package init?(parsing bytes: some Sequence<UInt8>) {
        guard let value = try? JSONDecoder().decode(DemoValue.self, from: Data(bytes)) else { return nil }
        self = value
    }

    /// Returns the member of an object; nil if there is none, and for any other kind of value.
    package subscript(name: String) -> DemoValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The value of a string; nil for any other kind of value.
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The value of a number; nil for any other kind of value.
    package var number: Double? { if case .number(let value) = self { value } else { nil } }
    /// The value of a boolean; nil for any other kind of value.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements of an array; nil for any other kind of value.
    package var array: [DemoValue]? { if case .array(let value) = self { value } else { nil } }
    /// The members of an object; nil for any other kind of value.
    package var object: [String: DemoValue]? { if case .object(let value) = self { value } else { nil } }

    /// The value as compact JSON, an object's members in alphabetical order.
    package var json: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension DemoValue: Decodable {
    /// Reads a value of any kind.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([String: DemoValue].self) {
            self = .object(value)
        } else {
            self = .array(try container.decode([DemoValue].self))
        }
    }
}

extension DemoValue: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Creates a string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// Creates a number.
    package init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a whole number.
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// Creates a boolean.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array.
    package init(arrayLiteral elements: DemoValue...) { self = .array(elements) }
    /// Creates an object; of several members of one name, the last counts.
    package init(dictionaryLiteral elements: (String, DemoValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    /// Creates JSON's null, which is not the absence of a value.
    package init(nilLiteral: ()) { self = .null }
}
