// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    static let gateway: [Key] = [
        .setting(
            "gateway", "listen", \.gateway.listen, .address, "The address that clients connect to.",
            "Put a TLS-terminating proxy before it; the gateway speaks plain HTTP/1.1. Port 0 lets the system choose."),
        .setting(
            "gateway", "sync_path", \.gateway.syncPath, ValueFormat<PathPattern>.pathPattern.optional,
            "The one path for both pulls and pushes.",
            """
            A GET is a pull. A POST is a push if its body holds changes, and a pull otherwise. Empty: only `pull_path` \
            and `push_path` are served. `{name}` stands for any one segment, as in `/v1/{team}/sync`.
            """),
        .setting(
            "gateway", "pull_path", \.gateway.pullPath, ValueFormat<PathPattern>.pathPattern.list(),
            "Further paths for pulls alone.",
            """
            For apps that pull and push at different paths, as a third of them do. What `sync_path` names need not be \
            repeated. Empty: only `sync_path` is served.
            """),
        .setting(
            "gateway", "push_path", \.gateway.pushPath, ValueFormat<PathPattern>.pathPattern.list(),
            "Further paths for pushes alone."),
        .setting(
            "gateway", "cors_origins", \.gateway.corsOrigins, ValueFormat<String>.origin.list(),
            "Origins whose web pages may sync: scheme, host and port, or `*` alone.",
            "WatermelonDB runs in browsers too. With `*` any page may sync, with a credential that it has itself."
        ),
        .setting(
            "gateway", "shutdown_grace", \.gateway.shutdownGrace, .duration(.zero ... .seconds(600)),
            "How long running requests may take to finish after SIGTERM."),
    ]

    static let wire: [Key] = [
        .setting(
            "wire", "last_pulled_at", \.wire.lastPulledAt, ValueFormat<String>.memberName.list(atLeast: 1),
            "Names of the cursor in queries and bodies."),
        .setting(
            "wire", "schema_version", \.wire.schemaVersion, ValueFormat<String>.memberName.list(atLeast: 1),
            "Names of the client's schema version."),
        .setting(
            "wire", "migration", \.wire.migration, ValueFormat<String>.memberName.list(atLeast: 1),
            "Names of the migration that a client says it needs."),
        .setting(
            "wire", "changes", \.wire.changes, ValueFormat<String>.memberName.list(atLeast: 1),
            "Names of the changes in a push.",
            "A body without any of them is taken as the changes themselves, if it looks like that."),
        .setting(
            "wire", "body_path", \.wire.bodyPath, .names("a JSON pointer", separator: "/"),
            "Where the body proper stands in what the app sends, as a JSON pointer such as `/json`.",
            "For apps whose client library wraps every body. Empty: the body is not wrapped."),
        .setting(
            "wire", "push_table", \.wire.pushTable, ValueFormat<String>.memberName.optional,
            "The table of a push that is one table's created, updated and deleted alone.",
            "Empty: such a push is refused, because it does not say which table it means."),
        .setting(
            "wire", "token_header", \.wire.tokenHeader, ValueFormat<String>.fieldName.list(),
            "Header fields that carry the caller's credential besides Authorization and Cookie.",
            "They are forwarded to the backend as they come, and their digest is the session."),
        .setting(
            "wire", "timestamp", \.wire.timestamp, .memberName,
            "The member of a pull's answer that holds the new cursor."),
        .setting(
            "wire", "wrap", \.wire.wrap, .names("names joined with dots", separator: "."),
            "Names to put around every answer, outermost first, such as `data`.",
            "For apps that unwrap what they get, as in `response.data.changes`. Empty: nothing is put around."),
    ]

    static let state: [Key] = [
        .setting(
            "state", "url", \.state.url, .stateLocation, "Where the state is: `sqlite:PATH`.",
            """
            The file is made with mode 0600. A relative path is relative to the working directory. Without its state \
            the gateway no longer knows its clients: back it up.
            """),
        .setting(
            "state", "busy_timeout", \.state.busyTimeout, .duration(.milliseconds(10) ... .seconds(60)),
            "How long a statement waits for another process's lock on the state."),
    ]

    static let identity: [Key] = [
        .setting(
            "identity", "principal", \.identity.principal, .principal, required: true,
            example: "backend:GET /users/me id", "Where the caller's lasting name comes from.",
            """
            `backend:METHOD /path PATH` asks the backend with the caller's credential and takes the value at PATH of \
            its answer. `cookie:NAME` takes a cookie's value. `bearer` takes the bearer token itself: only where \
            tokens live as long as the installation, because another token is another person. With `checkpoints = server` \
            each credential of a person must be a session of its own at the backend. There is \
            no default: with a \
            wrong one, people would get each other's records, or lose their place at every login.
            """),
        .setting(
            "identity", "key", \.identity.key, .secret(atLeast: 32), required: true, secret: true,
            example: "@file:/etc/rind/identity.key", "The key under which principals and sessions are stored.",
            """
            The state holds only HMACs made with it, so it must outlive the state: with another key nobody is \
            recognised. Make one with `openssl rand -hex 32`.
            """),
        .setting(
            "identity", "auth_ttl", \.identity.authTTL, .duration(.zero ... .seconds(3600)),
            "How long the backend's yes to a credential counts.",
            """
            Nothing is answered from the gateway's own state, and nothing written to it, unless the backend has accepted \
            this very credential within this time. With `backend:` it is asked again after this time who the caller is, \
            however often it has accepted the credential meanwhile. Zero asks every time.
            """),
    ]

    static let schema: [Key] = [
        .setting(
            "schema", "version", \.schema.version, .integer(1...1_000_000_000), example: "12",
            "The newest schema version that this file describes.",
            "A client that is newer gets this one. Raise it with every `since` that you add."),
        .setting(
            "schema", "oldest", \.schema.oldest, .integer(1...1_000_000_000), example: "2",
            "The oldest schema version that is still served.", "Older clients are answered 426 and a sentence."),
        .setting(
            "schema", "migrations_enabled_at", \.schema.migrationsEnabledAt,
            ValueFormat<Int>.integer(0...1_000_000_000, zero: "no migrations").optional, example: "2",
            "The app's `migrationsEnabledAtVersion`; empty where it is the oldest version.",
            """
            It stands in where the version that a device last synced with is not known. Clients below it are refused \
            once they have synced. With 0 nothing is fetched again because a client has a new version, unless the \
            client itself asks for it: what it lacks comes with the next comparison of the table, and without a \
            ledger with the next change of each record.
            """),
        .setting(
            "schema", "version_from", \.versionFrom, ValueFormat<VersionSource>.versionSource.optional,
            "What tells a client's schema version instead of its query and body.",
            """
            `header:X-Schema-Version` for apps that send no `schema_version` but can be told to send a header field. \
            Where it is there its number counts for pulls and pushes whatever else they say; where it is not, they \
            count as ever. A field that holds no version is answered 400.
            """),
    ]
}
