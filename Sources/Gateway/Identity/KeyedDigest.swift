// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import LineProjection

/// Makes digests that require `[identity] key`, so that the state does not reveal who its users are.
struct KeyedDigest: Sendable {
    /// The purpose of a digest; equal inputs for different purposes have different digests.
    enum Purpose: String {
        case principal, session, credential, push, idHash, mapping
    }

    private let key: SymmetricKey

    /// Creates digests under this key.
    init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// Returns 32 lower-case hexadecimal digits: 128 bits of an HMAC-SHA-256.
    func digits(_ purpose: Purpose, _ parts: some Sequence<[UInt8]>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in code(purpose, parts).prefix(16) {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns 128 bits that depend on the key and the purpose alone.
    func derivedKey(_ purpose: Purpose) -> (UInt64, UInt64) {
        let bytes = Array(code(purpose, []))
        func word(_ first: Int) -> UInt64 { bytes[first..<first + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return (word(0), word(8))
    }

    /// The key with which ids are hashed, for de-duplication and ledgers.
    var hashKey: SipHash.Key {
        let words = derivedKey(.idHash)
        return SipHash.Key(words.0, words.1)
    }

    private func code(_ purpose: Purpose, _ parts: some Sequence<[UInt8]>) -> HMAC<SHA256>.MAC {
        var hmac = HMAC<SHA256>(key: key)
        hmac.update(data: Array(purpose.rawValue.utf8))
        for part in parts {
            // The length before each part distinguishes lists that are equal only when joined.
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { hmac.update(data: $0) }
            hmac.update(data: part)
        }
        return hmac.finalize()
    }
}
