// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers
import StateStore

/// Counts the values of a push that did not fit their columns, and became defaults or were cut (push rule 10).
///
/// The backend may have had better values, so the log should show it. A record that is read again counts once.
final class RepairedValues: Sendable {
    /// The number of columns that the log names.
    private static let shown = 20

    private struct State {
        var counts: [PushedRecordKey: Int] = [:]
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

    /// Notes the columns of one record whose values were repaired.
    func note(_ columns: [String], of record: PushedRecordKey) {
        guard !columns.isEmpty else { return }
        state.withLockedValue { state in
            state.counts[record] = columns.count
            for column in columns.map({ "\(record.table).\($0)" })
            where state.columns.count < Self.shown && !state.columns.contains(column) {
                state.columns.append(column)
            }
        }
    }
}
