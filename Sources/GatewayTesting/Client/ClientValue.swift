// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// The value of a column in a client's row.
package enum ClientValue: Hashable, Sendable {
    case null
    case string(String)
    case number(Double)
    case boolean(Bool)

    /// Creates a value from one from outside, as the client does: a wrong or missing one becomes the default, never an
    /// error (`sanitizedRaw`).
    package init(sanitising value: JSONValue?, as column: ClientSchema.Column) {
        switch (column.kind, value) {
        case (.string, .string(let text)): self = .string(text)
        case (.number, .number(let number)) where number.double != nil:
            let double = number.double ?? 0
            self = .number(double == 0 ? 0 : double)
        case (.boolean, .bool(let flag)): self = .boolean(flag)
        case (.boolean, .number(let number)) where number.double == 0 || number.double == 1:
            self = .boolean(number.double == 1)
        default: self = Self.defaultValue(of: column)
        }
    }

    /// Returns the value of a column that has not been set.
    package static func defaultValue(of column: ClientSchema.Column) -> ClientValue {
        if column.isOptional { return .null }
        return switch column.kind {
        case .string: .string("")
        case .number: .number(0)
        case .boolean: .boolean(false)
        }
    }

    /// The value as it stands in JSON.
    package var json: JSONValue {
        switch self {
        case .null: .null
        case .string(let text): .string(text)
        case .number(let number): JSONNumber(spelling: JavaScriptNumber.text(number)).map { .number($0) } ?? .null
        case .boolean(let flag): .bool(flag)
        }
    }
}

extension ClientValue: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// Creates a number.
    package init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a number.
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// Creates a boolean.
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}
