// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The names that a schema of PostgreSQL may have for the state: those that need no quotes.
package enum SchemaName {
    /// Returns true for one to 63 letters a to z, digits and `_`, not beginning with a digit; names that begin with
    /// `pg_` belong to PostgreSQL.
    package static func isValid(_ name: String) -> Bool {
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
        return isName && (1...63).contains(name.utf8.count) && name.first?.isNumber == false && !name.hasPrefix("pg_")
    }
}
