// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// What the placeholders of a call stand for.
package struct CallValues: Sendable {
    private let values: [String: JSONValue]
    private let allColumns: JSONValue

    /// The values by placeholder name, and what `{*}` stands for.
    package init(_ values: [String: JSONValue], allColumns: JSONValue = .object([])) {
        self.values = values
        self.allColumns = allColumns
    }

    /// The value of one placeholder.
    package subscript(name: String) -> JSONValue? { values[name] }

    /// The path with every value percent-encoded as one segment, so that no value can leave its place (RFC 3986, 2.1).
    func fill(target: [TextFragment]) -> String {
        target.map { fragment in
            switch fragment {
            case .text(let text): text
            case .placeholder(let name): Self.encoded(Self.text(values[name]))
            }
        }.joined()
    }

    /// The document with every placeholder filled in.
    ///
    /// A member whose value is a lone placeholder without a value is left out: that is how a column that the client did
    /// not send stays untouched, and how "forget all" differs from "forget these".
    func fill(_ template: JSONTemplate) -> JSONValue {
        switch template {
        case .null: .null
        case .boolean(let value): .bool(value)
        case .number(let spelling): JSONNumber(spelling: spelling).map { .number($0) } ?? .null
        case .string(let fragments):
            .string(
                fragments.map { fragment in
                    switch fragment {
                    case .text(let text): text
                    case .placeholder(let name): Self.text(values[name])
                    }
                }.joined())
        case .value(let name): values[name] ?? .null
        case .allColumns: allColumns
        case .array(let elements): .array(elements.map(fill))
        case .object(let members):
            .object(
                members.compactMap { member in
                    if case .value(let name) = member.value, values[name] == nil { return nil }
                    return JSONValue.Member(member.name, fill(member.value))
                })
        }
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .number(let number): number.spelling
        case .bool(let bool): bool ? "true" : "false"
        default: ""
        }
    }

    private static func encoded(_ text: String) -> String {
        // Servers walk "." and ".." as directories; encoded, most of them leave them alone.
        if text == "." || text == ".." { return text.utf8.map { _ in "%2E" }.joined() }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONValue {
    /// The value at a path; nil where there is none.
    package subscript(path: Path) -> JSONValue? {
        var value = self
        for step in path.steps {
            let next: JSONValue? =
                switch step {
                case .name(let name): value[name]
                case .index(let index): value[index]
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}
