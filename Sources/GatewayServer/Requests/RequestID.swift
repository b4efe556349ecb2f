// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Provides the ids of requests, by which a request can be found in several logs.
package enum RequestID {
    /// Returns the client's id for its request, if logs and header fields allow it.
    ///
    /// The id must have 1 to 128 characters of `[A-Za-z0-9._-]`.
    package static func accepted(_ text: String?) -> String? {
        guard let text, (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) else { return nil }
        return text
    }

    /// Returns a new id: 16 hexadecimal digits, short enough to be read out.
    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
