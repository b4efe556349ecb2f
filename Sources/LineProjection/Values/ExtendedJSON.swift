// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// A value that MongoDB's extended JSON wraps into an object of one member, in its relaxed and its canonical format.
struct ExtendedJSON {
    /// The kind of value that a wrapper holds.
    enum Meaning {
        /// A text: an object id, a UUID or a symbol.
        case text
        /// A number, mostly as a text.
        case number
        /// A point in time: ISO 8601, or a number of milliseconds.
        case moment
    }

    let meaning: Meaning
    let value: JSONSlice

    /// Takes an object apart; nil if it is no wrapper.
    init?(_ object: JSONSlice) {
        guard let (name, value) = object.onlyMember, let meaning = Self.meaning(of: name) else { return nil }
        switch (meaning, value.kind) {
        case (.text, .string), (.number, .string), (.number, .number), (.moment, .string), (.moment, .number):
            (self.meaning, self.value) = (meaning, value)
        case (.moment, .object):
            guard let inner = ExtendedJSON(value), inner.meaning == .number else { return nil }
            (self.meaning, self.value) = (meaning, inner.value)
        default: return nil
        }
    }

    /// Returns whether a member's name is that of a wrapper.
    static func isOperator(_ name: JSONSlice) -> Bool { meaning(of: name) != nil }

    private static func meaning(of name: JSONSlice) -> Meaning? {
        guard name.content.first == UInt8(ascii: "$") else { return nil }
        if name.equals("$date" as StaticString) { return .moment }
        for text: StaticString in ["$oid", "$uuid", "$symbol"] where name.equals(text) { return .text }
        for number: StaticString in ["$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"]
        where name.equals(number) { return .number }
        return nil
    }
}

extension JSONSlice {
    /// The name and value of an object's only member; nil if there are none or several.
    fileprivate var onlyMember: (name: JSONSlice, value: JSONSlice)? {
        var found: (JSONSlice, JSONSlice)?
        var count = 0
        forEachMember { name, value in
            count += 1
            found = (name, value)
        }
        return count == 1 ? found : nil
    }
}
