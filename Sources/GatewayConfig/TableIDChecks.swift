// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Checks a table whose ids the backend makes.
struct TableIDChecks {
    let draft: TableDraft
    let hasStreamPush: Bool
    let isLedgered: Bool
    /// True if the stream has lines that report ids.
    let hasIDLines: Bool

    func run(_ problems: inout Problems) {
        checkType(&problems)
        checkParts(&problems)
        checkStreamPush(&problems)
        checkMaker(&problems)
        checkCalls(&problems)
    }

    private func checkType(_ problems: inout Problems) {
        guard let type = draft.idType, type.value == .integer else { return }
        if draft.idParts > 1 {
            problems.error(
                "an id of \(draft.idParts) parts is no number", at: type.span,
                hint: "say 'id_type = integer' in the tables that its parts refer to")
        }
        guard draft.hasWrites, !draft.makesIDs, draft.call("create")?.call != nil || hasStreamPush else { return }
        problems.error(
            "clients make ids that are no numbers, and nobody reads the backend's", at: type.span,
            hint: hasStreamPush
                ? "add 'ids = backend'" : "add 'returns PATH' to 'create', where its answer holds the new id")
    }

    /// Refuses `returns` for an id of several parts: it is made from the columns that are sent.
    private func checkParts(_ problems: inout Problems) {
        guard draft.idParts > 1, let returns = draft.call("create")?.returns else { return }
        problems.error(
            "'returns' reads one id, and the id has \(draft.idParts) parts", at: returns,
            hint: "leave it out: the id is put together from the columns that are sent")
    }

    private func checkMaker(_ problems: inout Problems) {
        guard let maker = draft.idMaker else { return }
        let returns = draft.call("create")?.returns
        switch maker.value {
        case .backend where !hasStreamPush && draft.call("create")?.call != nil && returns == nil:
            problems.error(
                "'create' does not read the ids that the backend makes", at: maker.span,
                hint: "add 'returns PATH', where its answer holds the new id")
        case .client:
            guard let returns else { return }
            problems.error(
                "'returns' reads the ids that the backend makes, and here the client makes them", at: maker.span,
                second: .init("it is here", at: returns))
        case .backend: break
        }
        if maker.value == .backend, draft.idParts > 1, draft.call("create")?.returns == nil {
            problems.error(
                "an id of \(draft.idParts) parts is made from these", at: maker.span,
                hint: "leave 'ids' out: it is put together from the columns that are sent")
        }
    }

    /// Warns of a stream push without lines that report ids: its keys are not kept beyond the push, so only the stream
    /// can show the id of a record whose answer is lost.
    private func checkStreamPush(_ problems: inout Problems) {
        guard hasStreamPush, !hasIDLines, draft.idParts == 1, let maker = draft.idMaker, maker.value == .backend else {
            return
        }
        problems.warning(
            "a record whose answer is lost may be made twice: nothing but the answer tells its id", at: maker.span,
            hint:
                "set [backend] idmap_type, or see that the backend takes a create whose client id it knows for an update"
        )
    }

    /// Refuses a call that does not name the record by its id: it would change another record, or none.
    private func checkCalls(_ problems: inout Problems) {
        guard draft.makesIDs, !hasStreamPush else { return }
        for key in ["update", "remove"] {
            guard let call = draft.call(key), call.call != nil,
                !call.placeholders.contains(where: { $0.value == "id" || $0.value.hasPrefix("id.") })
            else { continue }
            problems.error(
                "'\(key)' does not say which record: the backend knows it by '{id}'", at: call.span,
                hint: "put {id} into its path")
        }
        if !isLedgered, let span = draft.ledger?.span ?? draft.tableSpan {
            problems.warning(
                "without a ledger it is unknown which devices have got a record before its mapping", at: span,
                hint: "such a device gets the record a second time, under the client's id")
        }
    }
}

extension TableDraft {
    /// True if the backend gives new records its own ids.
    var makesIDs: Bool { call("create")?.returns != nil || idMaker?.value == .backend }

    /// True if the table has any calls, or names the maker of its ids.
    var hasWrites: Bool { idMaker != nil || !calls.isEmpty }
}
