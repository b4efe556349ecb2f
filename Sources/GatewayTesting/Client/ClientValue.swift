// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// What a column of a client's row holds.
package enum ClientValue: Hashable, Sendable {
    case null
    case string(String)
    case number(Double)
    case boolean(Bool)

    /// What the client makes of a value from outside: wrong or missing becomes the default, never an error
    /// (`sanitizedRaw`).
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

    /// What a column holds that nobody has set.
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
    /// A string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    package init(floatLiteral value: Double) { self = .number(value) }
    /// A number.
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// A boolean.
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}
