// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    static let gateway: [Key] = [
        .setting(
            "gateway", "listen", at: \.gateway.listen, as: .address, restart: true,
            summary: "The address that clients connect to.",
            about: """
                It speaks HTTP/1.1: plain behind a proxy that has the TLS, or within TLS with `tls_certificate`. Port 0 lets \
                the system choose.
                """),
        .setting(
            "gateway", "sync_path", at: \.gateway.syncPath, as: ValueFormat<PathPattern>.pathPattern.optional,
            summary: "The one path for both pulls and pushes.",
            about: """
                A GET is a pull. A POST is a push if its body holds changes, and a pull otherwise. Empty: only `pull_path` \
                and `push_path` are served. `{name}` stands for any one segment, as in `/v1/{team}/sync`. Calls to the \
                backend can use it as `{path.team}`: then every path of syncs must name it, each team is another scope \
                (`[wire] scope`), and default paths that do not name it are not served.
                """),
        .setting(
            "gateway", "pull_path", at: \.gateway.pullPath, as: ValueFormat<PathPattern>.pathPattern.list(),
            summary: "Further paths for pulls alone.",
            about: """
                For apps that pull and push at different paths, as a third of them do. What `sync_path` names need not be \
                repeated. Empty: only `sync_path` is served.
                """),
        .setting(
            "gateway", "push_path", at: \.gateway.pushPath, as: ValueFormat<PathPattern>.pathPattern.list(),
            summary: "Further paths for pushes alone."),
        .setting(
            "gateway", "cors_origins", at: \.gateway.corsOrigins, as: ValueFormat<String>.origin.list(),
            summary: "Origins whose web pages may sync: scheme, host and port, or `*` alone.",
            about:
                "WatermelonDB runs in browsers too. With `*` any page may sync, with a credential that it has itself."
        ),
        .setting(
            "gateway", "shutdown_grace", at: \.gateway.shutdownGrace, as: .duration(.zero ... .seconds(600)),
            restart: true, summary: "How long running requests may take to finish after SIGTERM."),
    ]

    static let wire: [Key] = [
        .setting(
            "wire", "last_pulled_at", at: \.wire.lastPulledAt, as: ValueFormat<String>.memberName.list(atLeast: 1),
            summary: "Names of the cursor in queries and bodies."),
        .setting(
            "wire", "schema_version", at: \.wire.schemaVersion, as: ValueFormat<String>.memberName.list(atLeast: 1),
            summary: "Names of the client's schema version."),
        .setting(
            "wire", "migration", at: \.wire.migration, as: ValueFormat<String>.memberName.list(atLeast: 1),
            summary: "Names of the migration that a client says it needs."),
        .setting(
            "wire", "changes", at: \.wire.changes, as: ValueFormat<String>.memberName.list(atLeast: 1),
            summary: "Names of the changes in a push.",
            about: "A body without any of them is taken as the changes themselves, if it looks like that."),
        .setting(
            "wire", "body_path", at: \.wire.bodyPath, as: .names("a JSON pointer", separator: "/"),
            summary: "Where the body proper stands in what the app sends, as a JSON pointer such as `/json`.",
            about: "For apps whose client library wraps every body. Empty: the body is not wrapped."),
        .setting(
            "wire", "push_table", at: \.wire.pushTable, as: ValueFormat<String>.memberName.optional,
            summary: "The table of a push that is one table's created, updated and deleted alone.",
            about: "Empty: such a push is refused, because it does not say which table it means."),
        .setting(
            "wire", "token_header", at: \.wire.tokenHeader, as: ValueFormat<String>.fieldName.list(),
            summary: "Header fields that carry the caller's credential besides Authorization and Cookie.",
            about: "They are forwarded to the backend as they come, and their digest is the session."),
        .setting(
            "wire", "scope", at: \.wire.scope, as: ValueFormat<String>.parameterName.list(),
            summary: "Parameters of the query that say what a sync is about, such as `farm_id`.",
            about: """
                Calls to the backend can use each as `{query.farm_id}`, as they can use `{path.team}` of \
                `/v1/{team}/sync`. What they use is the scope of a sync: with another value an app's database is another \
                replica, with cursors, pushes and a place in the stream of its own, and a cursor of one scope is unknown \
                in another. Each sync must state it in its address, pulls and pushes alike, or is answered 400.
                """),
        .setting(
            "wire", "timestamp", at: \.wire.timestamp, as: .memberName,
            summary: "The member of a pull's answer that holds the new cursor."),
        .setting(
            "wire", "wrap", at: \.wire.wrap, as: .names("names joined with dots", separator: "."),
            summary: "Names to put around every answer, outermost first, such as `data`.",
            about: "For apps that unwrap what they get, as in `response.data.changes`. Empty: nothing is put around."),
    ]

    static let state: [Key] = [
        .setting(
            "state", "url", at: \.state.url, as: .stateLocation,
            restart: true, summary: "Where the state is: `sqlite:PATH`, or `postgresql://USER@HOST/DATABASE`.",
            about: """
                A file is made with mode 0600; a relative path is relative to this file. For PostgreSQL the \
                URL may have all that libpq understands; it is never shown. Keep the password out of it: in `PGPASSWORD`, \
                or in a password file (`PGPASSFILE`). Without its state the gateway no longer knows its clients: back it up.
                """),
        .setting(
            "state", "schema", at: \.state.schema, as: .schemaName,
            restart: true, summary: "The schema of the PostgreSQL database that holds the tables.",
            about: "It is made at the first start if it is missing; it must have no other tables."),
        .setting(
            "state", "pool_size", at: \.state.poolSize, as: .integer(1...1_000),
            restart: true, summary: "The most connections to PostgreSQL at a time.",
            about: "They are opened when they are needed. All gateways together need the sum of them."),
        .setting(
            "state", "connect_timeout", at: \.state.connectTimeout, as: .duration(.seconds(2) ... .seconds(60)),
            restart: true, summary: "How long opening one connection to PostgreSQL may take."),
        .setting(
            "state", "statement_timeout", at: \.state.statementTimeout,
            as: .duration(.milliseconds(100) ... .seconds(60)),
            restart: true, summary: "How long a call to PostgreSQL may take, waiting for a connection included.",
            about: "Then the sync is answered 503 with `Retry-After`. While the database is away, calls wait so long."),
        .setting(
            "state", "prepare", at: \.state.preparesStatements, as: .boolean,
            restart: true, summary: "Whether statements are prepared once for each connection.",
            about: "Must be off behind a pooler that does not know prepared statements, such as pgbouncer before 1.21."),
        .setting(
            "state", "lease", at: \.state.lease, as: .duration(.seconds(1) ... .seconds(600)),
            restart: true, summary: "How long a gateway that is gone keeps others from the syncs of its users.",
            about: """
                With PostgreSQL, one gateway at a time pushes for a user, and pulls where the backend keeps the \
                checkpoints or makes ids. It renews its lease every third of this time. All gateways should have the same.
                """),
        .setting(
            "state", "busy_timeout", at: \.state.busyTimeout, as: .duration(.milliseconds(10) ... .seconds(60)),
            restart: true, summary: "How long a statement waits for a lock on the state that another one holds."),
    ]

    static let schema: [Key] = [
        .setting(
            "schema", "version", at: \.schema.version, as: .integer(1...1_000_000_000), example: "12",
            summary: "The newest schema version that this file describes.",
            about: "A client that is newer gets this one. Raise it with every `since` that you add."),
        .setting(
            "schema", "oldest", at: \.schema.oldest, as: .integer(1...1_000_000_000), example: "2",
            summary: "The oldest schema version that is still served.",
            about: "Older clients are answered 426 and a sentence."),
        .setting(
            "schema", "migrations_enabled_at", at: \.schema.migrationsEnabledAt,
            as: ValueFormat<Int>.integer(0...1_000_000_000, zero: "no migrations").optional, example: "2",
            summary: "The app's `migrationsEnabledAtVersion`; empty where it is the oldest version.",
            about: """
                It stands in where the version that a device last synced with is not known. Clients below it are refused \
                once they have synced. With 0 nothing is fetched again because a client has a new version, unless the \
                client itself asks for it: what it lacks comes with the next comparison of the table, and without a \
                ledger with the next change of each record.
                """),
        .setting(
            "schema", "version_from", at: \.versionFrom, as: ValueFormat<VersionSource>.versionSource.optional,
            summary: "What tells a client's schema version instead of its query and body.",
            about: """
                `header:X-Schema-Version` for apps that send no `schema_version` but can be told to send a header field. \
                Where it is there its number counts for pulls and pushes whatever else they say; where it is not, they \
                count as ever. A field that holds no version is answered 400.
                """),
    ]
}
