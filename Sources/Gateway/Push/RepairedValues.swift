// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers

/// Counts the values of a push that did not fit their columns, and became defaults or were cut (push rule 10).
///
/// The backend may have had better values, so the log should show it. A record that is read again counts once.
final class RepairedValues: Sendable {
    /// The number of columns that the log names.
    private static let shown = 20

    private struct State {
        /// The number in each record, by the offset at which it begins in the push.
        var counts: [Int: Int] = [:]
        var columns: [String] = []
    }

    private let state = NIOLockedValueBox(State())

    /// The number of values.
    var count: Int { state.withLockedValue { $0.counts.values.reduce(0, +) } }

    /// Logs the first columns, each after its table; once for each push.
    func log(to logger: Logger) {
        let (count, columns) = (count, state.withLockedValue(\.columns))
        guard count > 0 else { return }
        logger.warning(
            "a push has values that do not fit their columns; defaults were sent instead, or the values were cut",
            metadata: [
                "code": "push.repaired_values", "repaired": "\(count)",
                "columns": "\(columns.joined(separator: " "))",
            ])
    }

    /// Notes the columns of the record at an offset whose values were repaired.
    func note(_ columns: [String], of table: String, at offset: Int) {
        state.withLockedValue { state in
            state.counts[offset] = columns.count
            for column in columns where state.columns.count < Self.shown {
                let name = "\(table).\(column)"
                if !state.columns.contains(name) { state.columns.append(name) }
            }
        }
    }
}
