// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The document without white space: members in their order, numbers as they are spelled.
    package var serialised: [UInt8] {
        var writer = JSONWriter()
        writer.append(self)
        return writer.bytes
    }

    /// The one spelling that all documents of the same meaning share.
    ///
    /// Members stand in the order of their names' bytes, without white space; numbers have the shortest spelling of
    /// their double (`1.0`, `1e0` and `1` are `1`, −0 is `0`), and only necessary escapes are written. A number that is
    /// not finite as a double keeps its spelling.
    package var canonical: [UInt8] {
        var writer = JSONWriter()
        writer.append(canonical: self)
        return writer.bytes
    }
}

extension JSONWriter {
    /// Appends a document: members in their order, numbers as they are spelled.
    package mutating func append(_ value: JSONValue) {
        switch value {
        case .null: appendNull()
        case .bool(let value): append(value)
        case .number(let value): bytes.append(contentsOf: value.spelling.utf8)
        case .string(let value): append(string: value)
        case .array(let elements): appendList(elements, from: "[", to: "]") { $0.append($1) }
        case .object(let members):
            appendList(members, from: "{", to: "}") {
                $0.append(name: $1.name)
                $0.append($1.value)
            }
        }
    }

    /// Appends the spelling that all documents of the same meaning share; see ``JSONValue/canonical``.
    package mutating func append(canonical value: JSONValue) {
        switch value {
        case .number(let number):
            if let double = number.double { append(double) } else { append(value) }
        case .array(let elements): appendList(elements, from: "[", to: "]") { $0.append(canonical: $1) }
        case .object(let members):
            let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            appendList(sorted, from: "{", to: "}") {
                $0.append(name: $1.name)
                $0.append(canonical: $1.value)
            }
        case .null, .bool, .string: append(value)
        }
    }

    private mutating func appendList<Item>(
        _ items: [Item], from opening: StaticString, to closing: StaticString, _ body: (inout JSONWriter, Item) -> Void
    ) {
        append(raw: opening)
        for (index, item) in items.enumerated() {
            if index > 0 { append(raw: ",") }
            body(&self, item)
        }
        append(raw: closing)
    }
}
