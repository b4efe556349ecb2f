// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A table of a store of bytes, whose rows can be read from the first to the last.
package enum ByteTableName: String, CaseIterable, Sendable {
    /// The heads of principals.
    case principal
    /// The heads of replicas.
    case replica
    /// The cursors.
    case cursor
    /// All other rows.
    case entry
    /// The chunks; a chunk's key is its number.
    case chunk

    /// The number of rows that are read, and written in one transaction.
    package var pageSize: Int { self == .chunk || self == .replica ? 100 : 500 }
}

/// Copies the bytes of a state into an empty one, and compares the two.
///
/// It may be interrupted anywhere and started again: pages that are equal already are passed over. Until the comparison
/// has found every row of both equal, the target has a mark that keeps gateways away.
package struct StateCopier: Sendable {
    /// The reason why a copy cannot be made.
    package enum Failure: Error, Hashable, Sendable {
        /// The target has rows of its own.
        case targetInUse
        /// The two differ after everything was copied: the source was changed meanwhile, or the target was.
        case different(ByteTableName)

        /// The stable code.
        package var code: String {
            switch self {
            case .targetInUse: "state.not_empty"
            case .different: "state.copy_differs"
            }
        }
    }

    /// A step that was taken.
    package enum Step: Hashable, Sendable {
        /// So many rows of a table are in the target now.
        case copied(ByteTableName, rows: Int)
        /// So many rows of a table were found equal.
        case compared(ByteTableName, rows: Int)
    }

    private let source: any ByteStore
    private let target: any ByteStore
    private let maximumPage: Int
    private let report: @Sendable (Step) throws -> Void

    /// Creates a copier; `report` hears of each page, and its error ends the copy, as a signal would.
    package init(
        from source: any ByteStore, to target: any ByteStore, maximumPage: Int = .max,
        report: @escaping @Sendable (Step) throws -> Void
    ) {
        self.source = source
        self.target = target
        self.maximumPage = maximumPage
        self.report = report
    }

    /// Copies what is missing in the target, and compares everything.
    ///
    /// - Returns: The number of rows of each table.
    /// - Throws: ``Failure``, the errors of the two states and of `report`; the copy can be started again.
    package func run() async throws -> [(table: ByteTableName, rows: Int)] {
        if try await target.rows(.row(MetaKey.copying.row)).isEmpty {
            for table in ByteTableName.allCases {
                guard try await rows(of: target, table, after: nil).isEmpty else { throw Failure.targetInUse }
            }
            try await mark(ByteRow(key: MetaKey.copying.row, number: 1))
        }
        for table in ByteTableName.allCases { _ = try await pass(table, copies: true) }
        var counts: [(ByteTableName, Int)] = []
        for table in ByteTableName.allCases { counts.append((table, try await pass(table, copies: false))) }
        try await mark(nil)
        return counts
    }

    private func mark(_ row: ByteRow?) async throws {
        var changes = RowChanges()
        changes.rows.updateValue(row, forKey: MetaKey.copying.row)
        _ = try await target.commit([changes])
    }

    /// Goes through a table and copies or compares its rows; returns their number.
    private func pass(_ table: ByteTableName, copies: Bool) async throws -> Int {
        var (count, last) = (0, RowKey?.none)
        while true {
            let expected = try await rows(of: source, table, after: last)
            let found = try await rows(of: target, table, after: last)
            if found != expected {
                guard copies else { throw Failure.different(table) }
                try await add(expected, besides: found, to: table)
            }
            guard let end = expected.last else { return count }
            (last, count) = (end.key, count + expected.count)
            try report(copies ? .copied(table, rows: count) : .compared(table, rows: count))
        }
    }

    private func rows(of store: any ByteStore, _ table: ByteTableName, after key: RowKey?) async throws -> [ByteRow] {
        let limit = min(table.pageSize, maximumPage)
        var rows = try await store.page(of: table, after: key, limit: limit + 2)
        // What belongs to one store or one process is not copied.
        rows.removeAll { [MetaKey.copying.row, MetaKey.probe.row].contains($0.key) }
        return Array(rows.prefix(limit))
    }

    private func add(_ rows: [ByteRow], besides found: [ByteRow], to table: ByteTableName) async throws {
        let known = Set(found)
        var changes = RowChanges()
        for row in rows where !known.contains(row) {
            if table == .chunk {
                changes.chunks[row.number] = row.bytes
            } else {
                changes.rows[row.key] = row
            }
        }
        _ = try await target.commit([changes])
    }
}
