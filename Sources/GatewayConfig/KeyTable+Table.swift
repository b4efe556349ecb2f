// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

extension KeyTable {
    static let table: [Key] = tableStream + tableIDs + tableCalls

    private static let tableStream: [Key] = [
        .table(
            "since", "number", summary: "The first schema version that has the table.",
            about: "Without it the table was always there."
        ) { (value, draft, _) throws(Mistake) in
            var reader = TokenReader(value)
            draft.since = try reader.schemaVersion()
            try reader.finish(expecting: "nothing more")
        },
        .table(
            "request", "feed, feed, …", default: nil, summary: "The request types that fill the table.",
            about: """
                `AlbumsV1 then AlbumsV2 since 12` asks for exactly one of the two, by the client's schema version. What \
                commas separate is asked for all together; each is a feed of its own.
                """
        ) { (value, draft, problems) throws(Mistake) in
            guard let feeds = TableParser.list(value, "a request type", problems: &problems, parse: TableParser.feed)
            else { throw .reported }
            draft.feeds = feeds
        },
        .table(
            "upsert", "type, type, …", default: nil, summary: "The line types that carry rows.",
            about: "Each must fill the whole row."
        ) { (value, draft, problems) throws(Mistake) in
            guard let types = TableParser.list(value, "a line type", problems: &problems, parse: TableParser.upsert)
            else { throw .reported }
            draft.upserts = types
        },
        .table(
            "delete", "rule, rule, …", summary: "The line types that take rows away.",
            about: """
                `AlbumDeleteV1 by albumId` takes the record with this id; several paths are the parts of a composite id, \
                in the order of `id`. With `all` behind it the record goes whatever feeds it had; \
                otherwise only the line's \
                own feed is taken from it, and it goes when none is left. \
                `AssetOcrDeleteV1 where asset_id = assetId` takes every record whose column has the value.
                """
        ) { (value, draft, problems) throws(Mistake) in
            guard let rules = TableParser.list(value, "a delete rule", problems: &problems, parse: TableParser.delete)
            else { throw .reported }
            draft.deletes = rules
        },
        .table(
            "id", "path …", default: "id", summary: "Where the id stands in the lines.",
            about: """
                Several paths make a composite id, joined with dots. `id in AlbumV1, albumId in AlbumV2` where types \
                differ. Numbers become text; unusual bytes in the parts of composite ids are written `_hh`.
                """
        ) { (value, draft, problems) throws(Mistake) in
            guard let rules = TableParser.list(value, "a path", problems: &problems, parse: TableParser.id)
            else { throw .reported }
            draft.ids = rules
        },
        .table(
            "parent", "column table, …", summary: "Whose deletion takes these rows along.",
            about: "`album_id albums`: when an album goes, so do the rows that name it in `album_id`."
        ) { (value, draft, problems) throws(Mistake) in
            let what = "a column and its parent's table"
            guard let parents = TableParser.list(value, what, problems: &problems, parse: TableParser.parent)
            else { throw .reported }
            draft.parents = parents
        },
        .table(
            "ledger", LedgerMode.allCases.map(\.rawValue).joined(separator: " | "),
            summary: "Whether the gateway remembers which of the table's records each device holds.",
            about: """
                Without it as `[ledger] mode` says. `off` suits a table that is huge and never loses a record; rules that \
                find records by a column, `parent` and `delete … where`, need the ledger.
                """
        ) { (value, draft, problems) throws(Mistake) in
            let mode = try ValueFormat<LedgerMode>.choice.parse(value, &problems)
            draft.ledger = Located(mode, at: value.span)
        },
        .table(
            "conflicts", ConflictRule.allCases.map(\.rawValue).joined(separator: " | "),
            summary: "Who looks for changes that were made elsewhere to a pushed record since.",
            about: "Without it as `[push] conflicts` says; `stream` needs the table's ledger."
        ) { (value, draft, problems) throws(Mistake) in
            let rule = try ValueFormat<ConflictRule>.choice.parse(value, &problems)
            draft.conflicts = Located(rule, at: value.span)
        },
        .table(
            "cascade", CascadeRule.allCases.map(\.rawValue).joined(separator: " | "),
            summary: "Who deletes the descendants of a record of the table that an app deletes.",
            about: "Without it as `[push] cascade` says."
        ) { (value, draft, problems) throws(Mistake) in
            let rule = try ValueFormat<CascadeRule>.choice.parse(value, &problems)
            draft.cascade = Located(rule, at: value.span)
        },
        .table(
            "match", "column …", summary: "Columns that find a created record again when its answer was lost.",
            about: "A fallback: exact are only backends that take an idempotency key or send the client's id back."
        ) { (value, draft, _) throws(Mistake) in draft.match = try TableParser.match(value) },
    ]

    private static let tableCalls: [Key] = [
        call(
            "create", summary: "Makes a record in the backend.",
            about: """
                A method and a path below `[backend] url`, then outcomes, then `body` and JSON. `{id}`, `{id.1}` and \
                `{column}` are filled in, percent-encoded in paths. Without a body the writable columns are sent as an \
                object, each at its path. `returns id` where the answer holds the backend's own id, `returns location` \
                where only the end of its field `Location` does; then `ref clientId` \
                where the stream gives back the client's id that the body carries as `"{id}"`, so that a record is found \
                again whose answer was lost. A 409 without a meaning of its own says that the record exists, and it is \
                updated; where the backend makes the ids it is a refusal. `none` accepts the operation and sends nothing. Without the key a push with such an operation is refused.
                """),
        call(
            "update", summary: "Changes a record in the backend.",
            about: """
                As `create`; `{base}` is what the client has in the column marked `version`, for a backend that compares \
                it and answers 409 or 412; null where the client tells none, as in a deletion. `if_match` sends it in the \
                field `If-Match`, in quotes unless it has them, and no such field where the client tells none.
                """),
        call(
            "remove", summary: "Deletes a record in the backend.",
            about: """
                `missing 400 404` names the statuses that mean it is gone already. `exists`, `conflict`, `rejected` and \
                `ok` name others; 2xx is ok, 409 and 412 are conflicts (409 not to a creation). `when 0.success true | 0.error duplicate` looks \
                into the body of a 2xx.
                """),
        call("read", summary: "Reads a record from the backend."),
    ]

    private static func call(_ name: String, summary: String, about: String = "") -> Key {
        .table(name, "none | METHOD /path …", summary: summary, about: about) { (value, draft, _) throws(Mistake) in
            draft.calls.append(.init(key: name, draft: try CallParser.parse(value)))
        }
    }
}

extension Mistake {
    /// A mistake that stands for others that have been reported already, each at its own position.
    static var reported: Mistake { Mistake("", at: Span(source: -1, line: 0, column: 0)) }

    var isReported: Bool { span.source == -1 }
}
