// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names the numbers of the whole state.
package enum MetaKey: String, CaseIterable, Sendable {
    /// The number of principals.
    case principals
    /// The number of replicas.
    case replicas
    /// The greatest cursor whose row is gone with its replica.
    case newestCursor = "newest_cursor"
    /// The number of lines for which there was no room.
    case droppedLines = "quarantine_dropped"
    /// The beginning of the hour in which forgotten replicas are counted.
    case forgettingSince = "forgetting_since"
    /// The number of those that may still be forgotten in it.
    case forgettingLeft = "forgetting_left"
    /// The number of milliseconds by which cursors run ahead of the clock.
    case cursorLead = "cursor_lead"
    /// The mark of the key of identities.
    case identityKey = "identity_key"
    /// The owner with which the next collection goes on.
    case collectedTo = "collected_to"
    /// The number of times that `/readyz` has tested writing.
    case probe
    /// The mark of a state that is the target of an unfinished copy.
    case copying
    /// The greatest numbers of journals, of pushed records in quarantine, and of lines there that were given.
    case journals, pushes, lines

    /// Returns the key of the greatest number that was given to rows of a kind.
    package static func numbers(of kind: RowKind) -> Self {
        switch kind {
        case .journal: .journals
        case .line: .lines
        default: .pushes
        }
    }

    /// The key of its row, whose number it is.
    package var row: RowKey { RowKey(.meta, of: 0, Array(rawValue.utf8)) }
}
