// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The decoded parameters of a query, in their order.
struct QueryParameters {
    /// One parameter; without `=` it has an empty value.
    struct Parameter {
        var name: [UInt8]
        var value: [UInt8]
    }

    private(set) var all: [Parameter] = []

    /// Splits a raw query into its parameters.
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

    /// Returns the values of all parameters with one of these names.
    func values(named names: [String]) -> [[UInt8]] {
        all.filter { parameter in names.contains { parameter.name.elementsEqual($0.utf8) } }.map(\.value)
    }

    /// Returns the keys in brackets behind one of these names, with the values: `migration[tables][]` has the keys
    /// `tables` and an empty one.
    ///
    /// If the brackets behind the name are malformed, the keys are nil.
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
