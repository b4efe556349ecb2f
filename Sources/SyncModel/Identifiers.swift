// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The caller's identity, stable over token refreshes: the HMAC of a claim, a cookie or the backend's identity
/// response, and of the scope of the sync if calls to the backend use one.
package struct Principal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The user and the scope that a principal was made from, so that an operator finds the scopes of a user.
    package struct Origin: Hashable, Sendable {
        /// The user's principal without a scope, in hexadecimal digits.
        package let user: String
        /// The scope as ``SyncScope/description`` writes it.
        package let scope: String

        /// Creates an origin.
        package init(user: String, scope: String) {
            self.user = user
            self.scope = scope
        }
    }

    /// The HMAC in lower case hexadecimal digits.
    package let rawValue: String
    /// The user and the scope; nil if there is no scope.
    ///
    /// The digits alone tell principals apart.
    package let origin: Origin?

    /// Creates a principal from the digits as they are.
    package init(rawValue: String) { self.init(rawValue: rawValue, origin: nil) }

    /// Creates a principal of a user in a scope.
    package init(rawValue: String, origin: Origin?) {
        self.rawValue = rawValue
        self.origin = origin
    }

    /// The human behind the principal in all scopes: who is meant where limits are shared among users.
    package var user: Principal { origin.map { Principal(rawValue: $0.user) } ?? self }

    /// The scope; nil if there is none.
    package var scope: String? { origin?.scope }

    /// Returns true for the principal itself, and for a user also in each of their scopes.
    package func belongs(to other: Principal) -> Bool { self == other || user == other }

    /// The first 12 digits: enough to find the principal in the log, too few to be worth stealing.
    package var description: String { String(rawValue.prefix(12)) }

    /// Compares the digits.
    package static func == (a: Principal, b: Principal) -> Bool { a.rawValue == b.rawValue }

    /// Hashes the digits.
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
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
        let digits = String(UInt64(bitPattern: rawValue), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
