// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Checks a table's calls against its columns and its id.
struct TableCallChecks {
    let draft: TableDraft
    let hasStreamPush: Bool
    /// The table's rule for conflicts.
    let conflicts: ConflictRule
    /// The parts of a sync's address that calls can use.
    let scope: [ScopeName]

    /// Checks all calls.
    func run(_ problems: inout Problems) {
        for call in draft.calls {
            checkPlaceholders(call, &problems)
            if let span = call.draft.returns, call.key != "create" {
                problems.error("'returns' is for 'create' only: no other call makes an id", at: span)
            }
            checkReference(call, &problems)
            if let span = call.draft.ifMatch { checkIfMatch(call, at: span, problems: &problems) }
        }
        checkCreatedID(&problems)
    }

    private func checkReference(_ call: TableDraft.NamedCall, _ problems: inout Problems) {
        guard let span = call.draft.reference else { return }
        if call.draft.returns == nil || call.key != "create" {
            problems.error("'ref' is for a 'create' with 'returns': only there an id can get lost", at: span)
        } else if !call.draft.placeholders.contains(where: { $0.value == "id" }) {
            problems.error(
                "'ref' needs the client's id in the body of 'create'", at: span,
                hint: "send it as \"{id}\" where the backend stores it, and name where the stream gives it back")
        }
    }

    private func checkPlaceholders(_ call: TableDraft.NamedCall, _ problems: inout Problems) {
        guard draft.columnsSpan != nil else { return }
        let columns = draft.columns.map(\.column.name)
        let parts = draft.idParts > 1 ? (1...draft.idParts).map { "id.\($0)" } : []
        for placeholder in call.draft.placeholders {
            let name = placeholder.value
            if name == "*" || name == "id" || columns.contains(name) || draft.broken.contains("column \(name)")
                || ScopeName(placeholder: name) != nil
            {
                continue
            }
            if name == "base" {
                checkBase(call, at: placeholder.span, problems: &problems)
                continue
            }
            if name.hasPrefix("id."), draft.broken.contains("id") || parts.contains(name) || name == "id.1" { continue }
            let hint =
                name.hasPrefix("id.")
                ? "the id has \(draft.idParts) part\(draft.idParts == 1 ? "" : "s")"
                : scope.hint(for: name) ?? NearestName.hint(for: name, among: ["id", "base"] + parts + columns)
            problems.error(
                "'{\(name)}' names neither the id nor a column of '\(draft.name.value)'", at: placeholder.span,
                hint: hint ?? "known are {id}, {base} and the columns")
        }
    }

    private func checkBase(_ call: TableDraft.NamedCall, at span: Span, problems: inout Problems) {
        if call.key == "create" {
            problems.error("'{base}' is unknown in 'create': a new record has no version yet", at: span)
        } else if !draft.columns.contains(where: \.column.isVersion) {
            problems.error(
                "'{base}' needs a column that is marked 'version'", at: span,
                hint: "mark the column that holds the backend's version of the record")
        }
    }

    private func checkIfMatch(_ call: TableDraft.NamedCall, at span: Span, problems: inout Problems) {
        if call.key != "update" {
            problems.error(
                "'if_match' is for 'update' only: with anything else the client tells no version", at: span)
        } else if !draft.columns.contains(where: \.column.isVersion) {
            problems.error(
                "'if_match' needs a column that is marked 'version'", at: span,
                hint: "mark the column that holds the backend's version of the record")
        } else if conflicts != .backend {
            problems.warning(
                "'if_match' has no effect with 'conflicts = \(conflicts.rawValue)'", at: span,
                hint: "say 'conflicts = backend' where the backend compares versions")
        }
    }

    /// Warns if the backend chooses an id that the gateway does not read.
    private func checkCreatedID(_ problems: inout Problems) {
        guard !hasStreamPush, !draft.broken.contains("id"), let create = draft.call("create"), let call = create.call,
            call.returns == nil, !call.placeholders.contains(where: { $0 == "id" || $0.hasPrefix("id.") })
        else { return }
        let sent = Set(draft.columns.compactMap(\.column.outgoingPath))
        let named = Set(
            draft.columns.filter { call.placeholders.contains($0.column.name) }.compactMap { column in
                column.column.sources.firstPath
            })
        let isWhole = !create.hasBody || call.placeholders.contains("*")
        let known = isWhole ? sent.union(named) : named
        let paths = draft.model.ids.first?.paths ?? []
        guard !paths.allSatisfy(known.contains) else { return }
        problems.warning(
            "'create' neither sends the client's id nor reads the backend's", at: create.span,
            hint: "add 'returns PATH' where the answer holds the new id, or send \"{id}\"")
    }
}

extension [Column.Source] {
    /// The path of the first source that has one.
    fileprivate var firstPath: Path? {
        for case .path(let path, _) in self { return path }
        return nil
    }
}
