// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import LineProjection
import SyncModel

/// Makes digests that require `[identity] key`, so that the state does not reveal who its users are.
struct KeyedDigest: Sendable {
    /// The purpose of a digest; equal inputs for different purposes have different digests.
    enum Purpose: String, CaseIterable {
        case principal, session, credential, scope, push, idHash, mapping, mark
    }

    /// Each purpose's digest behind its key and its name: every request needs some.
    private let begun: [Purpose: HMAC<SHA256>]

    /// Creates digests under this key.
    init(key: [UInt8]) {
        let key = SymmetricKey(data: key)
        begun = Dictionary(
            uniqueKeysWithValues: Purpose.allCases.map { purpose in
                var hmac = HMAC<SHA256>(key: key)
                hmac.update(data: Array(purpose.rawValue.utf8))
                return (purpose, hmac)
            })
    }

    /// Returns 32 lower-case hexadecimal digits: 128 bits of an HMAC-SHA-256.
    func digits(_ purpose: Purpose, _ parts: some Sequence<[UInt8]>) -> String {
        let code = code(purpose, parts)
        return String(unsafeUninitializedCapacity: 32) { text in
            for (index, byte) in code.prefix(16).enumerated() {
                text[2 * index] = Self.digit(byte >> 4)
                text[2 * index + 1] = Self.digit(byte & 15)
            }
            return 32
        }
    }

    /// Returns the digest of a principal or a credential in a scope; without a scope, its own digest.
    func digits(_ purpose: Purpose, _ digest: String, in scope: SyncScope) -> String {
        guard !scope.isEmpty else { return digest }
        let parts = [purpose.rawValue, digest] + scope.parts.flatMap { [$0.name.description, $0.value] }
        return digits(.scope, parts.map { Array($0.utf8) })
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    /// Returns 128 bits that depend on the key and the purpose alone.
    func derivedKey(_ purpose: Purpose) -> (UInt64, UInt64) {
        let bytes = code(purpose, [])
        func word(_ first: Int) -> UInt64 { bytes[first..<first + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return (word(0), word(8))
    }

    /// The key with which ids are hashed, for de-duplication and ledgers.
    var hashKey: SipHash.Key {
        let words = derivedKey(.idHash)
        return SipHash.Key(words.0, words.1)
    }

    private func code(_ purpose: Purpose, _ parts: some Sequence<[UInt8]>) -> [UInt8] {
        guard var hmac = begun[purpose] else { preconditionFailure("a purpose has no digest") }
        for part in parts {
            // The length before each part distinguishes lists that are equal only when joined.
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { hmac.update(data: $0) }
            hmac.update(data: part)
        }
        return Array(hmac.finalize())
    }
}
