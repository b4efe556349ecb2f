// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// The checks of tables and columns against each other and against the schema's versions.
extension Loader {
    /// Makes all checks that compare several lines, and puts the tables into the configuration.
    mutating func finishSchema() {
        checkSettings()
        if drafts.isEmpty, document.sections.contains(where: { $0.kind.value == "backend" }) {
            problems.warning(
                "there is no [table NAME], so clients get nothing", at: Span(source: 0, line: 1, column: 1))
        }
        for draft in drafts {
            checkParts(draft)
            checkTypes(draft)
            checkIDs(draft)
            checkDeletes(draft)
            checkColumns(draft)
            checkReferences(draft)
            checkSources(draft)
            checkLedger(of: draft)
            let hasStreamPush = configuration.push.path != nil
            TableCallChecks(
                draft: draft, hasStreamPush: hasStreamPush, conflicts: conflicts(of: draft), scope: scopeNames
            ).run(&problems)
            TableIDChecks(
                draft: draft, hasStreamPush: hasStreamPush, isLedgered: isLedgered(draft),
                hasIDLines: configuration.backend.idMap.type != nil
            ).run(&problems)
            checkPush(draft)
        }
        if configuration.push.rejected == .report {
            problems.warning(
                "'rejected = report' is only for apps whose 'pushChanges' returns the answer",
                at: anyPosition("push", "rejected"), hint: "others take a refused record for accepted")
        }
        checkSharedTypes()
        checkRequestedVersions()
        checkUpsertVersions()
        configuration.schema.tables = drafts.filter { $0.tableSpan != nil }.map { draft in
            var table = draft.model
            table.isLedgered = isLedgered(draft)
            table.conflicts = conflicts(of: draft)
            table.cascade = draft.cascade?.value ?? configuration.push.cascade
            return table
        }
    }

    private mutating func checkPush(_ draft: TableDraft) {
        guard configuration.push.path == nil else { return }
        PushChecks(draft: draft, hasCreationKeys: configuration.push.idempotencyHeader != nil).run(&problems)
    }

    private func conflicts(of draft: TableDraft) -> ConflictRule {
        var table = draft.model
        table.isLedgered = isLedgered(draft)
        let rule = configuration.push.conflicts.rule(for: table, hasStreamPush: configuration.push.path != nil)
        return draft.conflicts?.value ?? rule
    }

    private mutating func checkParts(_ draft: TableDraft) {
        let name = draft.name.value
        if let span = draft.tableSpan {
            if draft.columnsSpan == nil {
                problems.error(
                    "table '\(name)' has no columns", at: span, hint: "add a section [columns \(name)]")
            }
            for key in KeyTable.keys(of: "table") where key.isRequired && !draft.present.contains(key.name) {
                problems.error(
                    "missing key '\(key.name)' in [table \(name)]", at: span, hint: "add '\(key.name) = …'")
            }
        } else if let span = draft.columnsSpan {
            let names = drafts.filter { $0.tableSpan != nil && $0.columnsSpan == nil }.map(\.name.value)
            problems.error(
                "columns without a table: there is no [table \(name)]", at: span,
                hint: NearestName.hint(for: name, among: names) ?? "add a section [table \(name)]")
        }
        checkVersion(draft.since, "table '\(name)'")
        for version in draft.feeds.flatMap(\.versions) { checkVersion(version.since, "'\(version.type.value)'") }
        for column in draft.columns { checkVersion(column.since, "column '\(column.name.value)'") }
    }

    private mutating func checkVersion(_ since: Located<Int>?, _ what: String) {
        guard let since, since.value > configuration.schema.version, !isBroken("schema", "version") else { return }
        problems.error(
            "\(what) is there since \(since.value), above schema version \(configuration.schema.version)",
            at: since.span, hint: "raise [schema] version",
            second: second("schema", "version", text: "the version is here"))
    }

    private mutating func checkTypes(_ draft: TableDraft) {
        var requests: [String: Span] = [:]
        for type in draft.feeds.flatMap(\.versions).map(\.type) {
            checkUnique(type, in: &requests, "request type")
        }
        var lines: [String: Span] = [:]
        for type in draft.upserts { checkUnique(type, in: &lines, "upsert type") }
        let backend = configuration.backend
        let control = Set(
            [backend.completeType, backend.resetType] + backend.ackTypes + [backend.idMap.type].compactMap { $0 })
        for type in draft.upserts + draft.deletes.map(\.type) where control.contains(type.value) {
            problems.error("'\(type.value)' is a control line of [backend] and cannot fill a table", at: type.span)
        }
        for rule in draft.deletes {
            guard let upsert = lines[rule.type.value] else { continue }
            problems.error(
                "'\(rule.type.value)' is both upsert and delete", at: rule.type.span,
                second: .init("it is an upsert here", at: upsert))
        }
    }

    private mutating func checkUnique(_ type: Located<String>, in seen: inout [String: Span], _ what: String) {
        if let first = seen[type.value] {
            problems.error(
                "\(what) '\(type.value)' is there twice", at: type.span, second: .init("first here", at: first))
        } else {
            seen[type.value] = type.span
        }
    }

    private mutating func checkIDs(_ draft: TableDraft) {
        guard !draft.broken.contains("id"), !draft.broken.contains("upsert"), let first = draft.ids.first else {
            return
        }
        let upserts = draft.upserts.map(\.value)
        for rule in draft.ids {
            if rule.paths.count != first.paths.count {
                problems.error(
                    "the id has \(rule.paths.count) parts here and \(first.paths.count) before", at: rule.paths[0].span,
                    hint: "an id has the same parts in all types",
                    second: .init("the other is here", at: first.paths[0].span))
            }
            for type in rule.types where !upserts.contains(type.value) {
                problems.error(
                    "'\(type.value)' is no upsert type of table '\(draft.name.value)'", at: type.span,
                    hint: NearestName.hint(for: type.value, among: upserts))
            }
        }
        let general = draft.ids.filter { $0.types.isEmpty }
        if general.count > 1 {
            problems.error(
                "there are two ids for all types", at: general[1].paths[0].span,
                hint: "say which types with 'in'; parts of one id are not separated by commas",
                second: .init("the other is here", at: general[0].paths[0].span))
        }
        if general.isEmpty {
            for type in draft.upserts where !draft.ids.contains(where: { $0.types.map(\.value).contains(type.value) }) {
                problems.error(
                    "no id is given for the type '\(type.value)'", at: first.paths[0].span,
                    hint: "add 'PATH in \(type.value)'")
            }
        }
    }

    private mutating func checkDeletes(_ draft: TableDraft) {
        for rule in draft.deletes {
            if case .by(let paths, _) = rule.target, paths.count != draft.idParts, !draft.broken.contains("id") {
                let second = draft.ids.first.map { Problems.Second("the id is here", at: $0.paths[0].span) }
                problems.error(
                    "'\(rule.type.value)' names \(paths.count) path\(paths.count == 1 ? "" : "s"), "
                        + "but the id has \(draft.idParts)",
                    at: rule.pathSpan, hint: "name the parts in the order of 'id', or use 'where'", second: second)
            }
            if let column = rule.column { checkColumn(column, of: draft) }
        }
    }

    private mutating func checkColumns(_ draft: TableDraft) {
        let upserts = draft.upserts.map(\.value)
        var outgoing: [Path: Located<String>] = [:]
        var version: Span?
        for column in draft.columns {
            for type in column.types where !upserts.contains(type.value) && !draft.broken.contains("upsert") {
                problems.error(
                    "'\(type.value)' is no upsert type of table '\(draft.name.value)'", at: type.span,
                    hint: NearestName.hint(for: type.value, among: upserts))
            }
            if let span = column.version {
                if let version {
                    problems.error(
                        "a table has one version column", at: span, second: .init("the first is here", at: version))
                }
                version = version ?? span
            }
            guard let path = column.column.outgoingPath else { continue }
            if let other = outgoing[path] {
                problems.warning(
                    "'\(column.name.value)' and '\(other.value)' are both sent as '\(path)'", at: column.name.span,
                    hint: "make one of them readonly, or give it a 'send' path",
                    second: .init("the other is here", at: other.span))
            } else {
                outgoing[path] = column.name
            }
        }
    }

    private mutating func checkReferences(_ draft: TableDraft) {
        for column in draft.columns {
            if let table = column.reference { checkTable(table) }
        }
        for parent in draft.parents {
            checkColumn(parent.column, of: draft)
            checkTable(parent.table)
            if let reference = draft.column(parent.column.value)?.reference, reference.value != parent.table.value {
                problems.error(
                    "'\(parent.column.value)' is an id of '\(parent.table.value)' here, of '\(reference.value)' there",
                    at: parent.table.span, second: .init("the other is here", at: reference.span))
            }
        }
        for column in draft.match { checkColumn(column, of: draft) }
    }

    private mutating func checkColumn(_ column: Located<String>, of draft: TableDraft) {
        guard draft.columnsSpan != nil, draft.column(column.value) == nil,
            !draft.broken.contains("column \(column.value)")
        else { return }
        problems.error(
            "table '\(draft.name.value)' has no column '\(column.value)'", at: column.span,
            hint: NearestName.hint(for: column.value, among: draft.columns.map(\.column.name)))
    }

    private mutating func checkTable(_ table: Located<String>) {
        guard !drafts.contains(where: { $0.name.value == table.value }) else { return }
        problems.error(
            "unknown table '\(table.value)'", at: table.span,
            hint: NearestName.hint(for: table.value, among: drafts.map(\.name.value)))
    }

    /// Warns if a table has several sources and one of them can never release a record (finding 15).
    private mutating func checkSources(_ draft: TableDraft) {
        guard draft.feeds.count > 1, !draft.broken.contains("delete"), !draft.broken.contains("request") else { return }
        let table = draft.model
        let deleted = Set(draft.deletes.map { table.feed(of: $0.type.value) })
        let end = isLedgered(draft) ? "a parent's or a full comparison" : "or for good: the table has no ledger"
        for (index, feed) in draft.feeds.enumerated() where !deleted.contains(index) {
            guard let type = feed.versions.first?.type else { continue }
            problems.warning(
                "the source '\(type.value)' has no delete type", at: type.span,
                hint: "records that only it still holds stay until a delete marked 'all', \(end)")
        }
    }

    /// Refuses two tables that take the same lines under the same key: they would hold the same records.
    private mutating func checkSharedTypes() {
        var seen: [String: [(draft: TableDraft, span: Span)]] = [:]
        for draft in drafts {
            let table = draft.model
            for type in draft.upserts {
                for other in seen[type.value] ?? [] where other.draft.name.value != draft.name.value {
                    guard other.draft.model.idRule(for: type.value)?.paths == table.idRule(for: type.value)?.paths
                    else {
                        continue
                    }
                    problems.error(
                        "'\(type.value)' fills '\(draft.name.value)' and '\(other.draft.name.value)' with the same id",
                        at: type.span, hint: "give each table a type or an id of its own",
                        second: .init("it is also here", at: other.span))
                }
                seen[type.value, default: []].append((draft, type.span))
            }
        }
    }
}
