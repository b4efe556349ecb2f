// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names the numbers of the whole state.
package enum MetaKey: String, CaseIterable, Sendable {
    /// The number of principals.
    case principals
    /// The number of replicas.
    case replicas
    /// The greatest cursor that was handed out, raised at least once a second.
    case newestCursor = "newest_cursor"
    /// The number of different lines in quarantine.
    case lines
    /// The number of lines for which there was no room.
    case droppedLines = "quarantine_dropped"
    /// The time of the last collection.
    case collectedAt = "collected_at"
    /// The number of milliseconds by which the clock has advanced more than time has passed while a gateway ran.
    case leapt
    /// The time at which that was last noticed.
    case leaptAt = "leapt_at"
    /// The beginning of the hour in which forgotten replicas are counted.
    case burialsSince = "burials_since"
    /// The number of those that may still be forgotten in it.
    case burialsLeft = "burials_left"
    /// The number of milliseconds by which cursors run ahead of the clock.
    case cursorLead = "cursor_lead"
    /// The mark of the key of identities.
    case identityKey = "identity_key"
    /// The number of times that `/readyz` has tested writing.
    case probe
    /// The greatest numbers of journals, of pushed records and of lines in quarantine that were given.
    case journals, pushes, lineNumbers = "line_numbers"

    /// Returns the key of the greatest number that was given to rows of a kind.
    package static func numbers(of kind: RowKind) -> Self {
        switch kind {
        case .journal: .journals
        case .push: .pushes
        default: .lineNumbers
        }
    }

    /// The key of its row, whose number it is.
    package var row: RowKey { RowKey(.meta, of: 0, Array(rawValue.utf8)) }
}
