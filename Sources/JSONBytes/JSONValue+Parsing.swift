// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The size, depth and number of elements that a document may have.
    package struct Limits: Hashable, Sendable {
        /// The most bytes that a document may have.
        package var bytes: Int
        /// The deepest nesting; never more than 512, because trees are walked by recursion.
        package var depth: Int
        /// The most values that a document may have, arrays and objects included; a member's name is not counted.
        package var elements: Int

        /// Creates limits; the defaults are those of a small document: 1 MiB, 64 levels, 100,000 elements.
        package init(bytes: Int = 1 << 20, depth: Int = 64, elements: Int = 100_000) {
            self.bytes = bytes
            self.depth = min(depth, 512)
            self.elements = elements
        }
    }

    /// Reads a whole document.
    ///
    /// If several members have the same name, the last value counts, at the position of the first, as in JavaScript.
    /// Lone surrogates become U+FFFD.
    ///
    /// - Throws: ``JSONError``, also if the document exceeds the limits.
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

    /// Returns a value that was scanned already; nil if it is nested too deeply for a document.
    package static func parsed(_ slice: JSONSlice) -> JSONValue? {
        try? parse(slice.bytes, limits: .whole(slice.bytes))
    }

    /// Returns the document that a text is; nil if it is none.
    package static func parsed(_ text: String) -> JSONValue? {
        Array(text.utf8).withUnsafeBytes { try? parse($0, limits: .whole($0)) }
    }
}

extension JSONValue.Limits {
    /// Returns the limits of a document whose size is limited already.
    fileprivate static func whole(_ bytes: UnsafeRawBufferPointer) -> Self {
        Self(bytes: bytes.count, depth: 512, elements: bytes.count)
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
        var indices = MemberIndices()
        var name: [UInt8] = []
        try scanner.beginObject()
        while let slice = try scanner.nextMember() {
            name.removeAll(keepingCapacity: true)
            slice.appendUnescaped(to: &name)
            let value = try value()
            if let index = indices.index(of: name, in: members) {
                members[index].value = value
            } else {
                members.append(JSONValue.Member(String(decoding: name, as: UTF8.self), value))
            }
        }
        return members
    }
}

/// Finds names that an object has already, without a cost that grows with its members.
///
/// While there are few members, each is compared, which is faster; beyond that a dictionary is used, so that a document
/// with many members costs no more for each.
private struct MemberIndices {
    private static let fewMembers = 16

    /// The index of each member by its name, as bytes; see the comment at JSONValue's equality.
    private var indices: [[UInt8]: Int] = [:]

    /// Returns the index of the member with a name; nil for a new name, which gets the next index.
    mutating func index(of name: [UInt8], in members: [JSONValue.Member]) -> Int? {
        if members.count < Self.fewMembers {
            return members.firstIndex { $0.name.utf8.count == name.count && $0.name.utf8.elementsEqual(name) }
        }
        if indices.isEmpty {
            for (index, member) in members.enumerated() { indices[Array(member.name.utf8)] = index }
        }
        if let index = indices[name] { return index }
        indices[name] = members.count
        return nil
    }
}
