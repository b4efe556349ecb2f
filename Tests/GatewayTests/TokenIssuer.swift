// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOConcurrencyHelpers
import SyncModel

/// Signs tokens with a key pair on the curve P-256.
struct TokenIssuer {
    private let key = P256.Signing.PrivateKey()

    /// The public key in PEM.
    var pem: String { key.publicKey.pemRepresentation }

    /// The public key as an entry of a JWKS, with further members.
    func entry(_ id: String?, _ more: String = "") -> String {
        let raw = key.publicKey.rawRepresentation
        let (x, y) = (Self.encoded(Array(raw.prefix(32))), Self.encoded(Array(raw.suffix(32))))
        let kid = id.map { #""kid":"\#($0)","# } ?? ""
        return #"{"kty":"EC","crv":"P-256",\#(kid)\#(more)"x":"\#(x)","y":"\#(y)"}"#
    }

    /// A token with these claims and header, both as JSON.
    func token(_ claims: String, header: String = #"{"alg":"ES256","kid":"one"}"#) throws -> String {
        let signed = "\(Self.encoded(Array(header.utf8))).\(Self.encoded(Array(claims.utf8)))"
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return "\(signed).\(Self.encoded(Array(signature)))"
    }

    static func jwks(_ entries: String...) -> [UInt8] {
        Array(#"{"keys":[\#(entries.joined(separator: ","))]}"#.utf8)
    }

    /// Base64url without padding.
    static func encoded(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// A clock that moves only by its pauses, and when a test moves it.
final class PausedClock: WallClock {
    private let box = NIOLockedValueBox(Instant(milliseconds: 1_700_000_000_000))
    /// What goes on during each pause.
    private let meanwhile = NIOLockedValueBox<(@Sendable () async -> Void)?>(nil)

    var now: Instant { box.withLockedValue { $0 } }

    func advance(seconds: Int64) { box.withLockedValue { $0 += seconds * 1_000 } }

    func run(whilePaused body: @escaping @Sendable () async -> Void) { meanwhile.withLockedValue { $0 = body } }

    func sleep(milliseconds: Int64) async throws {
        try Task.checkCancellation()
        box.withLockedValue { $0 += milliseconds }
        await meanwhile.withLockedValue { $0 }?()
    }
}
