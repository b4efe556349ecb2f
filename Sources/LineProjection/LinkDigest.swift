// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
import SyncModel

/// The digest of a column whose value is the id of another record: the ``IDHash/link`` of that id, or 0.
///
/// The value counts as the client has it. Texts are ids as they are, integral numbers in decimal digits. Null, the
/// empty text, booleans, `json` columns and values of the wrong type name no record and have the digest 0.
package enum LinkDigest {
    /// Returns the digest of a value for a column with these spellings.
    package static func of(_ value: JSONSlice?, _ spelling: ColumnSpelling, key: SipHash.Key) -> UInt64 {
        of(ColumnValue(value, spelling), key: key)
    }

    static func of(_ value: ColumnValue, key: SipHash.Key) -> UInt64 {
        switch value {
        case .string(let slice): slice.isEmptyString ? 0 : slice.withText { IDHash.link(id: $0, key: key) }
        case .text(let id): IDHash.link(id: id, key: key)
        case .number(let slice): of(number: slice, key: key)
        case .double(let value): of(double: value, key: key)
        case .milliseconds(let value, _): of(integer: value, key: key)
        case .boolean, .json, .null, .absent, .wrong: 0
        }
    }

    /// Returns the digest of a number; integers keep all their digits, since an id of the backend does so too.
    private static func of(number slice: JSONSlice, key: SipHash.Key) -> UInt64 {
        if slice.isInteger, !slice.isNegativeZero { return IDHash.link(id: slice.bytes, key: key) }
        return slice.double.map { of(double: $0, key: key) } ?? 0
    }

    private static func of(double value: Double, key: SipHash.Key) -> UInt64 {
        guard value.magnitude <= 0x1p53, value == value.rounded(.towardZero) else { return 0 }
        return of(integer: Int64(value), key: key)
    }

    private static func of(integer: Int64, key: SipHash.Key) -> UInt64 {
        var digits = JSONWriter()
        digits.append(integer)
        return digits.bytes.withUnsafeBytes { IDHash.link(id: $0, key: key) }
    }
}
