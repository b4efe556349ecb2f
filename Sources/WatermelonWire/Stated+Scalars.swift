// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension Stated<Int64> {
    /// Reads `lastPulledAt`: a number (cut, never rounded up) or an ISO date, with or without quotes; 0 is ``none``.
    ///
    /// - Throws: ``WireError/Code/lastPulledAt`` for everything else, including times before 1970.
    static func lastPulledAt(text: [UInt8]) throws(WireError) -> Stated {
        try reading(text) { text throws(WireError) in
            let bare = text.withoutQuotes()
            let milliseconds: Int64
            if let number = DecimalText(bare) {
                guard !number.isNegative else { throw .lastPulledAt }
                milliseconds = number.truncated
            } else if let date = ISODate.milliseconds(bare), date >= 0 {
                milliseconds = date
            } else {
                throw .lastPulledAt
            }
            return milliseconds == 0 ? .none : .value(milliseconds)
        }
    }
}

extension Stated<Int> {
    /// The greatest schema version that is accepted; SQLite's `user_version`, in which clients keep it, has 32 bits.
    static var maximumVersion: Int64 { Int64(Int32.max) }

    /// Reads a schema version: a whole number of at least 1.
    ///
    /// - Throws: ``WireError/Code/schemaVersion`` for everything else.
    static func schemaVersion(text: [UInt8]) throws(WireError) -> Stated {
        try reading(text) { text throws(WireError) in
            guard let number = DecimalText(text.withoutQuotes()), number.isWhole, !number.isNegative,
                (1...maximumVersion).contains(number.truncated)
            else { throw .schemaVersion }
            return .value(Int(number.truncated))
        }
    }

    /// Reads the values of a header field that states the schema version, sent as several fields or as a list in one.
    ///
    /// - Throws: ``WireError/Code/schemaVersion`` for values that are no version, and for two that differ.
    static func schemaVersion(fields: [String]) throws(WireError) -> Stated {
        var stated = Stated.nothing
        for field in fields {
            for part in field.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                try stated.merge(.schemaVersion(text: Array(part)), orThrow: .schemaVersionTwice)
            }
        }
        return stated
    }
}

extension [UInt8] {
    /// Returns the bytes without the quotes around them, if there are any: a parameter may be a string that went
    /// through `JSON.stringify`.
    fileprivate func withoutQuotes() -> ArraySlice<UInt8> {
        let quote = UInt8(ascii: "\"")
        guard count >= 2, first == quote, last == quote else { return self[...] }
        return dropFirst().dropLast()
    }
}
