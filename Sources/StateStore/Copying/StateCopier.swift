// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Copies a state into an empty one, and compares the two.
///
/// It may be interrupted anywhere and started again: each page of rows is one transaction, and the rows of a table are
/// copied in the order of their keys, so the target's last row says where to go on. Until the comparison has found
/// every row of both equal, the target has a mark that keeps gateways away.
package struct StateCopier: Sendable {
    /// The reason why a copy cannot be made.
    package enum Failure: Error, Hashable, Sendable {
        /// The target has rows of its own.
        case targetInUse
        /// The two differ after everything was copied: the source was changed meanwhile, or the target was.
        case different(CopiedTable)

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
        /// So many rows of a table are in the target now, of this run.
        case copied(CopiedTable, rows: Int)
        /// So many rows of a table were found equal.
        case compared(CopiedTable, rows: Int)
    }

    private let source: any CopySource
    private let target: any CopyTarget
    private let maximumPage: Int
    private let report: @Sendable (Step) throws -> Void

    /// Creates a copier.
    ///
    /// - Parameters:
    ///   - source: The state that is read.
    ///   - target: The state that is filled.
    ///   - maximumPage: The most rows of a page; tests have little to copy.
    ///   - report: Hears of each page; an error ends the copy, as a signal would.
    package init(
        from source: any CopySource, to target: any CopyTarget, maximumPage: Int = .max,
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
    package func run() async throws -> [(table: CopiedTable, rows: Int)] {
        switch try await target.standing() {
        case .inUse: throw Failure.targetInUse
        case .empty: try await target.mark()
        case .unfinished: break
        }
        for table in CopiedTable.allCases { try await copy(table) }
        var counts: [(CopiedTable, Int)] = []
        for table in CopiedTable.allCases { counts.append((table, try await compare(table))) }
        try await target.finish()
        return counts
    }

    private func copy(_ table: CopiedTable) async throws {
        // The few entries of `meta` are there from the beginning, and are replaced.
        var key = table == .meta ? nil : try await target.lastKey(of: table)
        var count = 0
        while true {
            let rows = try await source.rows(of: table, after: key, limit: limit(table))
            guard let last = rows.last else { break }
            try await target.add(rows, to: table)
            key = table.key(of: last)
            count += rows.count
            try report(.copied(table, rows: count))
        }
        guard table.numbered != nil else { return }
        try await target.setNumbers(of: table, to: source.numbers(of: table))
    }

    /// Compares all rows; returns their number.
    private func compare(_ table: CopiedTable) async throws -> Int {
        var key: CopiedRow?
        var count = 0
        while true {
            let expected = try await source.rows(of: table, after: key, limit: limit(table))
            guard try await target.rows(of: table, after: key, limit: limit(table)) == expected else {
                throw Failure.different(table)
            }
            guard let last = expected.last else { return count }
            key = table.key(of: last)
            count += expected.count
            try report(.compared(table, rows: count))
        }
    }

    private func limit(_ table: CopiedTable) -> Int { min(table.pageSize, maximumPage) }
}

extension CopiedTable {
    /// Returns the key of a row.
    package func key(of row: CopiedRow) -> CopiedRow { Array(row.prefix(keyCount)) }
}
