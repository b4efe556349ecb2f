// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension Column {
    /// Creates a column that a version has brought.
    static func make(_ name: String, _ type: ColumnType, since: Int = 0) -> Column {
        var column = Column(name: name, type: type, sources: nil)
        column.since = since
        return column
    }
}

extension Table {
    /// Creates a table with one feed.
    static func make(_ name: String, upsert: String, columns: [Column]) -> Table {
        var table = Table(name: name)
        table.feeds = [Feed(versions: [.init(requestType: name)])]
        table.upserts = [upsert]
        table.columns = columns
        return table
    }
}
