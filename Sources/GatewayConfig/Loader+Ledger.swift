// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// The checks of `[ledger]`, and of the tables with and without a ledger.
extension Loader {
    /// The most feeds of a table: the ledger keeps the sources of a record as bits of one word.
    static let maximumFeeds = 64
    /// The most columns by which records of a table are found: an entry of the ledger counts them in a byte.
    static let maximumLinks = 255

    mutating func checkLedger() {
        let ledger = configuration.ledger
        if ledger.rewind > ledger.maxOffline, !isBroken("ledger", "rewind"), !isBroken("ledger", "max_offline") {
            let (key, other) =
                position("ledger", "rewind") == nil ? ("max_offline", "rewind") : ("rewind", "max_offline")
            problems.error(
                "[ledger] rewind (\(TimeSpan.render(ledger.rewind))) is longer than max_offline "
                    + "(\(TimeSpan.render(ledger.maxOffline)))",
                at: anyPosition("ledger", key), hint: "a cursor that is forgotten cannot be gone back to",
                second: second("ledger", other, text: "the other one is here"))
        }
        if ledger.mode == .off, !drafts.contains(where: { $0.ledger?.value == .full }) {
            for key in ["resweep_every", "resweep_parallel", "resweep_rows", "rewind", "max_sweep", "settle"] {
                guard let span = position("ledger", key), !isBroken("ledger", key) else { continue }
                problems.warning(
                    "'\(key)' has no effect: no table has a ledger", at: span,
                    second: second("ledger", "mode", text: "it is turned off here"))
            }
        }
    }

    /// Returns true if a table has a ledger, by its own key or the section's.
    func isLedgered(_ draft: TableDraft) -> Bool { (draft.ledger?.value ?? configuration.ledger.mode) == .full }

    /// Checks the limits of a table's ledger; without one, warns of rules that find records by a column.
    mutating func checkLedger(of draft: TableDraft) {
        if draft.feeds.count > Self.maximumFeeds, let type = draft.feeds[Self.maximumFeeds].versions.first?.type {
            problems.error(
                "table '\(draft.name.value)' has \(draft.feeds.count) sources, at most \(Self.maximumFeeds) can be "
                    + "told apart",
                at: type.span, hint: "'then' joins the versions of one request type")
        }
        let links = draft.model.links.count
        if links > Self.maximumLinks, let span = draft.parents.first?.column.span ?? draft.deletes.first?.pathSpan {
            problems.error(
                "'parent' and 'delete … where' of table '\(draft.name.value)' name \(links) columns, at most "
                    + "\(Self.maximumLinks) can be remembered", at: span)
        }
        guard !isLedgered(draft), !draft.broken.contains("ledger"), !isBroken("ledger", "mode") else { return }
        checkConflicts(of: draft)
        let position = draft.ledger?.span ?? position("ledger", "mode")
        let second = position.map { Problems.Second("its ledger is turned off here", at: $0) }
        for parent in draft.parents {
            problems.warning(
                "the descendants of deleted '\(parent.table.value)' cannot be found: table '\(draft.name.value)' has "
                    + "no ledger",
                at: parent.column.span, hint: "they stay on the devices unless the backend sends delete lines for them",
                second: second)
        }
        for rule in draft.deletes {
            guard let column = rule.column else { continue }
            problems.warning(
                "the records that '\(rule.type.value)' means cannot be found: table '\(draft.name.value)' has no "
                    + "ledger",
                at: column.span, hint: "delete lines 'by' the id need no ledger", second: second)
        }
    }

    /// Refuses the search for conflicts in the stream for a table without a ledger: there is nothing to compare with.
    private mutating func checkConflicts(of draft: TableDraft) {
        guard draft.conflicts.map({ $0.value == .stream }) ?? (configuration.push.conflicts == .stream) else { return }
        let position = draft.conflicts?.span ?? anyPosition("push", "conflicts")
        problems.error(
            "conflicts of table '\(draft.name.value)' cannot be found in the stream: it has no ledger", at: position,
            hint: "give the table 'conflicts = backend' or 'conflicts = none'")
    }
}
