// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Encodes vectors for storage as netstrings (https://cr.yp.to/proto/netstrings.txt), namespace and token in turn.
///
/// `7:AlbumV1,12:AlbumV1|0197,` takes any bytes without escapes, has one spelling for each vector, and is readable for
/// an operator in the `sqlite3` shell.
package enum Netstrings {
    /// Returns the one spelling of a vector, with the namespaces in the order of their bytes.
    package static func encode(_ vector: CheckpointVector) -> [UInt8] {
        var bytes: [UInt8] = []
        let pairs = vector.tokens.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (namespace, token) in pairs {
            append(namespace.utf8, to: &bytes)
            append(token.utf8, to: &bytes)
        }
        return bytes
    }

    /// Returns the vector in stored bytes; nil if they are invalid.
    package static func decode(_ bytes: [UInt8]) -> CheckpointVector? {
        var rest = bytes[...]
        var tokens: [String: String] = [:]
        while !rest.isEmpty {
            guard let namespace = next(in: &rest), let token = next(in: &rest),
                tokens.updateValue(token, forKey: namespace) == nil
            else { return nil }
        }
        return CheckpointVector(tokens)
    }

    /// Appends one string as a netstring.
    package static func append(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: String(text.count).utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: ","))
    }

    /// Takes the next string; nil if there is none.
    package static func next(in rest: inout ArraySlice<UInt8>) -> String? {
        var count = 0
        while let byte = rest.popFirst(), byte != UInt8(ascii: ":") {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), count < 1 << 32 else { return nil }
            count = count * 10 + Int(byte - UInt8(ascii: "0"))
        }
        guard count < rest.count, rest[rest.startIndex + count] == UInt8(ascii: ",") else { return nil }
        defer { rest = rest.dropFirst(count + 1) }
        return String(validating: rest.prefix(count), as: UTF8.self)
    }
}
