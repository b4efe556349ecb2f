// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel

/// The effects of an update of the app on one of its tables.
struct TableUpdate: Equatable {
    /// The app's gain; the raw value is the stable word.
    enum Gain: String {
        /// The table.
        case table = "new"
        /// Unknown, because the configuration does not describe versions before its oldest.
        case unknown = "again"
        /// Columns.
        case columns
        /// No gain.
        case nothing = "none"
    }

    /// The rows that go out of those streamed from the beginning; the raw value is the stable word.
    enum Delivery: String {
        /// All of them, in `created`.
        case created
        /// All of them, in `updated`.
        case updated
        /// Those with a value in a gained column, and those that differ from what the device has.
        case gained
        /// Those that differ from what the device has.
        case differences
    }

    let name: String
    let gain: Gain
    /// The columns that it has gained, in the order of the configuration.
    let columns: [String]
    /// True if the table is fetched again because of its gain.
    let isFetched: Bool
    let isLedgered: Bool
    /// The request types that are streamed from their beginnings, and those that go on.
    let restarted: [String]
    let continued: [String]
    /// Nil where nothing is streamed from its beginning.
    let delivery: Delivery?
    /// The known number of its records.
    let records: Int?

    init(
        _ table: Table, decision: SchemaNegotiator.Decision, gained: SchemaChange, course: StreamCourse, records: Int?
    ) {
        let change = decision.change
        let isRenewed = change?.tables.contains(table.name) ?? false
        let added = gained.columns[table.name] ?? []
        let isNew = gained.tables.contains(table.name)
        name = table.name
        isLedgered = table.isLedgered
        isFetched = change?.affected.contains(table.name) ?? false
        gain = isNew ? .table : isRenewed ? .unknown : added.isEmpty ? .nothing : .columns
        columns = table.columns.map(\.name).filter(added.contains)
        let parts = course.parts(of: table)
        restarted = parts.filter(\.isRestarted).map(\.type)
        continued = parts.filter { !$0.isRestarted }.map(\.type)
        self.records = records
        if restarted.isEmpty {
            delivery = nil
        } else if change?.empty.contains(table.name) == true, table.isLedgered {
            delivery = .created
        } else if isNew || isRenewed || !table.isLedgered {
            delivery = .updated
        } else {
            delivery = isFetched ? .gained : .differences
        }
    }
}
