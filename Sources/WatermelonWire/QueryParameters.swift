// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The parameters of a query, decoded, in the order in which they stand.
struct QueryParameters {
    /// One of them; a parameter without `=` has an empty value.
    struct Parameter {
        var name: [UInt8]
        var value: [UInt8]
    }

    private(set) var all: [Parameter] = []

    /// Takes a raw query apart.
    init(_ query: String, limit: Int) throws(WireError) {
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            guard all.count < limit else { throw .tooManyParameters(limit: limit) }
            let split = part.firstIndex(of: UInt8(ascii: "="))
            let value = split.map { part[part.index(after: $0)...] } ?? part[part.endIndex...]
            all.append(
                Parameter(
                    name: PercentCoding.decode(part[..<(split ?? part.endIndex)], plusIsSpace: true),
                    value: PercentCoding.decode(value, plusIsSpace: true)))
        }
    }

    /// Returns the values of every parameter that has one of these names.
    func values(named names: [String]) -> [[UInt8]] {
        all.filter { parameter in names.contains { parameter.name.elementsEqual($0.utf8) } }.map(\.value)
    }

    /// Returns the keys in brackets behind one of these names, with the value: `migration[tables][]` gives `tables`,
    /// ``.
    ///
    /// The keys are nil for a name with such a beginning and without well-formed brackets.
    func bracketed(under names: [String]) -> [(keys: [String]?, value: [UInt8])] {
        all.compactMap { parameter in
            guard let opening = parameter.name.firstIndex(of: UInt8(ascii: "[")),
                names.contains(where: { parameter.name[..<opening].elementsEqual($0.utf8) })
            else { return nil }
            return (Self.keys(parameter.name[opening...]), parameter.value)
        }
    }

    private static func keys(_ brackets: ArraySlice<UInt8>) -> [String]? {
        var keys: [String] = []
        var rest = brackets
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "["), let closing = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            keys.append(String(decoding: rest[..<closing], as: UTF8.self))
            rest = rest[rest.index(after: closing)...]
        }
        return keys
    }
}
