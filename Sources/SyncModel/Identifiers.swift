// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Who is calling, stable over token refreshes: the HMAC of a claim, a cookie or what the backend's who-am-I says.
package struct Principal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Lower case hexadecimal digits of the HMAC.
    package let rawValue: String

    /// Takes the digits as they are.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The first 12 digits: enough to find it in the log, too few to be worth stealing.
    package var description: String { String(rawValue.prefix(12)) }
}

/// What the backend hangs its checkpoints on: a digest of the forwarded credential, or a claim that names the session.
package struct Session: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Lower case hexadecimal digits of the HMAC.
    package let rawValue: String

    /// Takes the digits as they are.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The first 12 digits, for the log.
    package var description: String { String(rawValue.prefix(12)) }
}

/// One installed client database, known by the chain of cursors that it presents.
package struct ReplicaID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// A random number, never zero.
    package let rawValue: Int64

    /// Takes the number as it is.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Draws a new one.
    package static func random(using generator: inout some RandomNumberGenerator) -> Self {
        Self(rawValue: .random(in: 1...Int64.max, using: &generator))
    }

    /// 16 hexadecimal digits, as `rind replicas` shows and takes them.
    package var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
