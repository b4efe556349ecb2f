// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import SyncModel

extension Instant: DatabaseValueConvertible {
    /// The milliseconds since 1970, as the database stores them.
    package var databaseValue: DatabaseValue { milliseconds.databaseValue }

    /// Returns a stored moment; nil if the value is no integer.
    package static func fromDatabaseValue(_ value: DatabaseValue) -> Instant? {
        Int64.fromDatabaseValue(value).map(Instant.init(milliseconds:))
    }
}
