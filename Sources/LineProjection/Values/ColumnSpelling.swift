// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The spellings in which one column's values may come, compiled from its attributes.
///
/// It is an object, so that the plan of a column can refer to it without counting.
package final class ColumnSpelling: Sendable {
    /// The side that has written a value.
    package enum Writer: Sendable {
        /// The backend, which may count seconds.
        case backend
        /// A client, which counts milliseconds.
        case client
    }

    let type: ColumnType
    let isOptional: Bool
    /// True if a client has written the values: its numbers are doubles already.
    let isClients: Bool
    let isStrict: Bool
    /// True if the value names a record, so that an empty text names none.
    let isReference: Bool
    /// The milliseconds in the unit of a timestamp that is a number.
    let unit: Int64
    /// True if digits may be a date, because nothing says that they count.
    let hasDates: Bool
    let zone: ZoneOffsets?
    let isDecimal: Bool
    let words: Column.BooleanWords?
    let nestsJSON: Bool

    /// Compiles the spellings of a column in what one side writes.
    package init(_ column: Column, of writer: Writer) {
        type = column.type
        isOptional = column.isOptional
        isClients = writer == .client
        isStrict = column.isStrict
        isReference = column.reference != nil
        unit = writer == .backend && column.timestampFormat == .seconds ? 1_000 : 1
        hasDates = !column.isStrict && column.timestampFormat != .seconds && column.timestampFormat != .millis
        zone = column.zone
        isDecimal = column.isDecimal
        words = column.words
        nestsJSON = column.nestsJSON
    }

    /// Creates the spellings of a plain column of a type.
    package convenience init(_ type: ColumnType) { self.init(Column(name: "", type: type), of: .backend) }
}
