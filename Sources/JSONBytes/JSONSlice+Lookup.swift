// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONSlice {
    /// Returns the member of an object with this name, the last one if it repeats; nil if there is none.
    package func member(_ name: UnsafeRawBufferPointer) -> JSONSlice? {
        var found: JSONSlice?
        forEachMember { if $0.equals(name) { found = $1 } }
        return found
    }

    /// Returns the member of an object with this name, the last one if it repeats; nil if there is none.
    package func member(_ name: String) -> JSONSlice? {
        var name = name
        return name.withUTF8 { member(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the element of an array at this index, from 0; nil if there is none.
    package func element(at index: Int) -> JSONSlice? {
        guard kind == .array, index >= 0 else { return nil }
        var scanner = JSONScanner(self)
        return Self.validated(nil) { () throws(JSONError) in
            try scanner.beginArray()
            var rest = index
            while try scanner.nextElement() {
                let value = try scanner.value()
                if rest == 0 { return value }
                rest &-= 1
            }
            return nil
        }
    }

    /// Calls `body` with the name and value of every member of an object, in their order, repeated ones included.
    package func forEachMember<E: Error>(_ body: (JSONSlice, JSONSlice) throws(E) -> Void) throws(E) {
        guard kind == .object else { return }
        var scanner = JSONScanner(self)
        guard
            Self.validated(
                false,
                { () throws(JSONError) in
                    try scanner.beginObject(); return true
                })
        else { return }
        while let (name, value) = Self.validated(nil, { () throws(JSONError) in try Self.nextMember(&scanner) }) {
            try body(name, value)
        }
    }

    /// Calls `body` with every element of an array, in their order.
    package func forEachElement<E: Error>(_ body: (JSONSlice) throws(E) -> Void) throws(E) {
        guard kind == .array else { return }
        var scanner = JSONScanner(self)
        guard
            Self.validated(
                false,
                { () throws(JSONError) in
                    try scanner.beginArray(); return true
                })
        else { return }
        while let value = Self.validated(nil, { () throws(JSONError) in try Self.nextElement(&scanner) }) {
            try body(value)
        }
    }

    private static func nextMember(
        _ scanner: inout JSONScanner
    ) throws(JSONError) -> (name: JSONSlice, value: JSONSlice)? {
        guard let name = try scanner.nextMember() else { return nil }
        return (name, try scanner.value())
    }

    private static func nextElement(_ scanner: inout JSONScanner) throws(JSONError) -> JSONSlice? {
        guard try scanner.nextElement() else { return nil }
        return try scanner.value()
    }

    /// Runs a scan that cannot fail, because a slice is validated before it is made.
    private static func validated<R>(_ otherwise: R, _ body: () throws(JSONError) -> R) -> R {
        do { return try body() } catch {
            assertionFailure("a validated slice does not scan: \(error)")
            return otherwise
        }
    }
}
