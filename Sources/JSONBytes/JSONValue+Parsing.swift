// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// What a document may cost.
    package struct Limits: Hashable, Sendable {
        /// The most bytes.
        package var bytes: Int
        /// The deepest nesting; never more than 512, because trees are walked by recursion.
        package var depth: Int
        /// The most values, members counted as one each.
        package var elements: Int

        /// Limits; without arguments those of a small document: 1 MiB, 64 levels, 100,000 elements.
        package init(bytes: Int = 1 << 20, depth: Int = 64, elements: Int = 100_000) {
            self.bytes = bytes
            self.depth = min(depth, 512)
            self.elements = elements
        }
    }

    /// Reads a whole document.
    ///
    /// Of members with the same name the last one counts, at the place of the first, as in JavaScript. Lone surrogates
    /// become U+FFFD.
    ///
    /// - Throws: ``JSONError``, also for more than the limits allow.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: Limits = Limits()
    ) throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.bytes else { throw JSONError(.tooLarge, at: limits.bytes) }
        var parser = Parser(scanner: JSONScanner(bytes, maximumDepth: limits.depth), elementsLeft: limits.elements)
        let value = try parser.value()
        try parser.scanner.finish()
        return value
    }

    /// Reads a whole document.
    package static func parse(_ bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (bytes) throws(JSONError) in
            try parse(UnsafeRawBufferPointer(bytes), limits: limits)
        }
    }

    /// Reads a whole document.
    package static func parse(_ text: String, limits: Limits = Limits()) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), limits: limits)
    }
}

private struct Parser {
    var scanner: JSONScanner
    var elementsLeft: Int

    mutating func value() throws(JSONError) -> JSONValue {
        let kind = try scanner.peekKind()
        guard elementsLeft > 0 else { throw JSONError(.tooManyElements, at: scanner.offset) }
        elementsLeft -= 1
        switch kind {
        case .array: return .array(try elements())
        case .object: return .object(try members())
        case .null, .boolean, .number, .string: break
        }
        let slice = try scanner.value()
        switch kind {
        case .boolean: return .bool(slice.bool ?? false)
        case .number: return .number(JSONNumber(slice))
        case .string: return .string(slice.string ?? "")
        default: return .null
        }
    }

    private mutating func elements() throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try scanner.beginArray()
        while try scanner.nextElement() { elements.append(try value()) }
        return elements
    }

    private mutating func members() throws(JSONError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        var places = MemberPlaces()
        var name: [UInt8] = []
        try scanner.beginObject()
        while let slice = try scanner.nextMember() {
            name.removeAll(keepingCapacity: true)
            slice.appendUnescaped(to: &name)
            let value = try value()
            if let place = places.place(of: name, in: members) {
                members[place].value = value
            } else {
                members.append(JSONValue.Member(String(decoding: name, as: UTF8.self), value))
            }
        }
        return members
    }
}

/// Finds names that have been there already: by looking at each while there are few, which is faster, and by a
/// dictionary where there are many, so that a document with many members costs no more for each.
private struct MemberPlaces {
    private static let fewMembers = 16

    /// Names as bytes, see the comment at JSONValue's equality.
    private var places: [[UInt8]: Int] = [:]

    /// The place of a name; nil for a new one, which gets the next place.
    mutating func place(of name: [UInt8], in members: [JSONValue.Member]) -> Int? {
        if members.count < Self.fewMembers {
            return members.firstIndex { $0.name.utf8.count == name.count && $0.name.utf8.elementsEqual(name) }
        }
        if places.isEmpty {
            for (place, member) in members.enumerated() { places[Array(member.name.utf8)] = place }
        }
        if let place = places[name] { return place }
        places[name] = members.count
        return nil
    }
}
