// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The caller's identity, stable over token refreshes: the HMAC of a claim, a cookie or the backend's identity
/// response.
package struct Principal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The HMAC in lower case hexadecimal digits.
    package let rawValue: String

    /// Creates a principal from the digits as they are.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The first 12 digits: enough to find the principal in the log, too few to be worth stealing.
    package var description: String { String(rawValue.prefix(12)) }
}

/// The session for which the backend keeps checkpoints: a digest of the forwarded credential, or of a claim that names
/// the session.
package struct Session: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The HMAC in lower case hexadecimal digits.
    package let rawValue: String

    /// Creates a session from the digits as they are.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The first 12 digits, for the log.
    package var description: String { String(rawValue.prefix(12)) }
}

/// The id of one installed client database, which is recognised by the chain of cursors that it presents.
package struct ReplicaID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// A random number, never zero.
    package let rawValue: Int64

    /// Creates an id from the number as it is.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Draws a new random id.
    package static func random(using generator: inout some RandomNumberGenerator) -> Self {
        Self(rawValue: .random(in: 1...Int64.max, using: &generator))
    }

    /// The 16 hexadecimal digits that `rind replicas` shows and accepts.
    package var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
