// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import SyncModel

/// A JWT in its compact form (RFC 7519, and RFC 7515, 3.1), whose signature nobody has checked yet.
struct SignedToken {
    /// The most bytes of a token.
    static let maximumBytes = 16 << 10
    private static let longestKeyID = 255

    /// The algorithm that the token names.
    let algorithm: String
    /// The id of its key; nil if it names none.
    let keyID: String?
    /// The bytes that are signed.
    let signed: [UInt8]
    let signature: [UInt8]
    private let payload: [UInt8]

    /// Reads a token.
    init(_ text: some StringProtocol) throws(TokenRefusal) {
        guard text.utf8.count <= Self.maximumBytes else { throw Self.malformed("it is too long") }
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw Self.malformed("it is no JWT") }
        let header = try Self.object(Self.decoded(parts[0]))
        guard let algorithm = header["alg"]?.string else { throw Self.malformed("it names no algorithm") }
        // Extensions that must be understood (RFC 7515, 4.1.11): none is.
        guard header["crit"] == nil else { throw Self.malformed("it demands an extension") }
        let keyID = header["kid"]?.string
        guard keyID.map({ (1...Self.longestKeyID).contains($0.utf8.count) }) ?? (header["kid"] == nil) else {
            throw Self.malformed("its kid is no short text")
        }
        self.algorithm = algorithm
        self.keyID = keyID
        payload = try Self.decoded(parts[1])
        signature = try Self.decoded(parts[2])
        signed = Array(parts[0] + [UInt8(ascii: ".")] + parts[1])
    }

    /// Reads the claims; only for a token whose signature is right.
    func claims() throws(TokenRefusal) -> JSONValue { try Self.object(payload) }

    private static func object(_ bytes: [UInt8]) throws(TokenRefusal) -> JSONValue {
        let limits = JSONValue.Limits(bytes: maximumBytes, depth: 16, elements: 2_000)
        guard let value = try? JSONValue.parse(bytes, limits: limits), value.members != nil else {
            throw malformed("a part of it is no JSON object")
        }
        return value
    }

    /// Decodes base64url without padding (RFC 7515, 2).
    private static func decoded(_ text: ArraySlice<UInt8>) throws(TokenRefusal) -> [UInt8] {
        var base64: [UInt8] = []
        base64.reserveCapacity(text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): base64.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): base64.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): throw malformed("it is no base64url")
            default: base64.append(byte)
            }
        }
        base64 += Array(repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        guard !text.isEmpty, let data = Data(base64Encoded: Data(base64)) else {
            throw malformed("it is no base64url")
        }
        return Array(data)
    }

    private static func malformed(_ cause: String) -> TokenRefusal { TokenRefusal(.form, cause) }
}
