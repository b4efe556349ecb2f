// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// Issues JWTs, signed with a key pair on the curve P-256.
struct TestIssuer: Sendable {
    private let key = P256.Signing.PrivateKey()

    var pem: String { key.publicKey.pemRepresentation }

    /// The public key as a JWKS.
    func jwks(_ id: String = "one") -> String {
        let raw = key.publicKey.rawRepresentation
        let (x, y) = (Self.encoded(raw.prefix(32)), Self.encoded(raw.suffix(32)))
        return #"{"keys":[{"kty":"EC","crv":"P-256","use":"sig","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}]}"#
    }

    /// A token that expires in so many seconds, with further claims in JSON.
    func token(_ subject: String, _ more: String = "", id: String = "one", lasting seconds: Int = 3_600) throws
        -> String
    {
        let expiry = Int(Date().timeIntervalSince1970) + seconds
        let header = Self.encoded(Data(#"{"alg":"ES256","kid":"\#(id)"}"#.utf8))
        let claims = Self.encoded(Data(#"{"sub":"\#(subject)","exp":\#(expiry)\#(more)}"#.utf8))
        let signature = try key.signature(for: Data("\(header).\(claims)".utf8)).rawRepresentation
        return "\(header).\(claims).\(Self.encoded(signature))"
    }

    private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
