// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension Call {
    /// The call as a file writes it, without outcomes.
    var text: String {
        let target = target.map {
            switch $0 {
            case .text(let text): text
            case .placeholder(let name): "{\(name)}"
            }
        }.joined()
        return "\(method) \(target)" + (body.map { " body \($0.text)" } ?? "")
    }
}

extension JSONTemplate {
    /// The template as a file writes it.
    var text: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let number): number
        case .string(let fragments): "\"\(fragments.map(Self.text).joined())\""
        case .value(let name): "\"{\(name)}\""
        case .allColumns: "{*}"
        case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\"\(Self.escaped($0.name))\":\($0.value.text)" }.joined(separator: ","))}"
        }
    }

    private static func text(_ fragment: TextFragment) -> String {
        switch fragment {
        case .text(let text): escaped(text)
        case .placeholder(let name): "{\(name)}"
        }
    }

    /// Escapes quotes, backslashes and control characters, and the brace that would begin a placeholder.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "{": "\\u007b"
            case _ where scalar.value < 32:
                "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }.joined()
    }
}
