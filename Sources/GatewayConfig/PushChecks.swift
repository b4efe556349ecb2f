// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Warns of calls that leave the outcome of a push open if other users write, too.
struct PushChecks {
    let draft: TableDraft
    /// True if the backend recognises a repeated creation by a key.
    let hasCreationKeys: Bool

    /// Checks the calls of one table of a push by calls.
    func run(_ problems: inout Problems) {
        checkCreation(&problems)
        checkRemoval(&problems)
        checkVersions(&problems)
        checkUnsent(&problems)
    }

    /// Warns of columns that no call sends, or only the creation: a later pull reverts the app's changes there.
    private func checkUnsent(_ problems: inout Problems) {
        let calls = ["create", "update"].compactMap { key in draft.calls.first { $0.key == key && $0.draft.call != nil }
        }
        for column in draft.columns where !column.column.isReadonly && !column.column.isVersion {
            let silent = calls.filter { !sends($0, column.column) }
            guard let call = silent.last, call.key == calls.last?.key else { continue }
            let name = column.name.value
            let who = silent.count == 2 ? "neither 'create' nor 'update' sends" : "'\(call.key)' does not send"
            let isSentElsewhere = silent.count < calls.count
            problems.warning(
                "\(who) the column '\(name)': what apps write there is gone with a later pull", at: column.name.span,
                hint: "send \"{\(name)}\"" + (isSentElsewhere ? " there, too" : ", or mark the column 'readonly'"),
                second: .init("the call is here", at: call.draft.span))
        }
    }

    private func sends(_ call: TableDraft.NamedCall, _ column: Column) -> Bool {
        let names = call.draft.placeholders.map(\.value)
        if names.contains(column.name) { return true }
        if !call.draft.hasBody || names.contains("*") { return column.outgoingPath != nil }
        guard call.key == "update" else { return false }
        // The parts of the id cannot change, and a part that only the address of a creation needs is not sent by
        // updates.
        let isPart = draft.idParts > 1 && draft.ids.contains { $0.paths.contains { $0.value == column.outgoingPath } }
        return isPart || draft.call("create")?.call?.target.contains(.placeholder(column.name)) == true
    }

    /// Warns of creations whose id only the backend knows if the answer is lost (finding 20).
    private func checkCreation(_ problems: inout Problems) {
        guard !hasCreationKeys, let create = draft.call("create"), let call = create.call, call.method == "POST",
            call.returns != nil, call.reference == nil
        else { return }
        guard draft.match.isEmpty else {
            problems.warning(
                "a creation whose answer is lost is found again by 'match' alone", at: create.span,
                hint: "two records that are equal in these columns may be taken for one, or be made twice")
            return
        }
        problems.warning(
            "a creation whose answer is lost may happen twice: only the backend knows its id",
            at: create.span,
            hint: "set [push] idempotency_header, or say with 'ref' where the stream gives the client's id back")
    }

    /// Warns of a removal without a status for a record that is already gone, as after a second device's delete.
    private func checkRemoval(_ problems: inout Problems) {
        guard let remove = draft.call("remove"), let call = remove.call, call.method == "DELETE", call.when.isEmpty,
            !call.statuses.values.contains(.missing)
        else { return }
        problems.warning(
            "'remove' does not say which status means that the record is gone already", at: remove.span,
            hint: "add 'missing 404', or whatever the backend answers: without it a second deletion fails its push")
    }

    /// Checks a table that itself leaves conflicts to the backend; the section's setting may be meant for other tables.
    private func checkVersions(_ problems: inout Problems) {
        guard let conflicts = draft.conflicts, conflicts.value == .backend, let update = draft.call("update"),
            let call = update.call,
            !call.sendsVersion, !update.placeholders.contains(where: { $0.value == "base" })
        else { return }
        problems.warning(
            "'update' does not tell the backend what the client had seen, so it cannot find conflicts", at: update.span,
            hint: "send {base} or 'if_match' with a column that is marked 'version', or say 'conflicts = stream'",
            second: .init("it is to find them here", at: conflicts.span))
    }
}
