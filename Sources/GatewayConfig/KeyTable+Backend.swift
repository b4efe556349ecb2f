// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    static let backend: [Key] = [
        .setting(
            "backend", "url", \.backend.url, .baseURL, required: true, example: "http://127.0.0.1:2283/api",
            "Where the backend is; every call goes below this URL and nowhere else."),
        .setting(
            "backend", "stream", \.backend.stream, .call(placeholders: ["types", "checkpoints"]),
            "Opens the stream.",
            """
            `{types}` are the request types of the client's schema version; `{checkpoints}`, for `checkpoints = \
            request`, is an object of tokens by namespace. A placeholder alone in quotes becomes a JSON value.
            """),
        .setting(
            "backend", "ack", \.backend.ack, .callOrNone(placeholders: ["acks"]), "Sets checkpoints.",
            "`{acks}` is a list of tokens."),
        .setting("backend", "list", \.backend.list, .callOrNone(placeholders: []), "Lists the session's checkpoints."),
        .setting(
            "backend", "forget", \.backend.forget, .callOrNone(placeholders: ["namespaces"]), "Forgets checkpoints.",
            "`{namespaces}` is the list of their names."),
        .setting(
            "backend", "checkpoints", \.backend.checkpoints, .choice, "Who keeps the checkpoints.",
            """
            `server`: the backend keeps one vector for each session, which ack, list and forget move. `request`: the \
            tokens travel in the stream request as `{checkpoints}`, and the backend keeps nothing.
            """),
        .setting(
            "backend", "complete_type", \.backend.completeType, .wireType,
            "The type of the line that ends a complete stream."),
        .setting(
            "backend", "reset_type", \.backend.resetType, .wireType,
            "The type of the line that asks the client to begin anew."),
        .setting(
            "backend", "ack_types", \.backend.ackTypes, ValueFormat<String>.wireType.list(),
            "Types of lines that carry a token and no data."),
        .setting(
            "backend", "type_field", \.backend.typeField, .memberName, "The member of a line that holds its type."),
        .setting("backend", "ack_field", \.backend.ackField, .memberName, "The member of a line that holds its token."),
        .setting(
            "backend", "data_field", \.backend.dataField, .memberName, "The member of a line that holds the record."),
        .setting(
            "backend", "ack_batch", \.backend.ackBatch, .integer(1...100_000), "The most tokens in one ack call."),
        .setting(
            "backend", "forward_headers", \.backend.forwardHeaders, ValueFormat<String>.fieldName.list(),
            "The client's header fields that go along besides the credential.",
            """
            Host, Content-Length, Accept-Encoding, Expect and hop-by-hop fields are never forwarded, even if they are \
            listed. The backend may show other records where one of them has another value, as where it names a tenant. \
            So each is part of the credential, and thereby of the session, and of the caller with `principal = bearer` and \
            `cookie:NAME`, unless it is harmless (`harmless_headers`): with another value a device gets everything compared \
            anew.
            """),
        .setting(
            "backend", "harmless_headers", \.backend.harmlessHeaders, ValueFormat<String>.fieldName.list(),
            "Those of `forward_headers` that say nothing about who is calling or what they may see.",
            """
            Such as one with the version of the app: its value may change without meaning another session. Always \
            harmless are \(Configuration.Backend.alwaysHarmless.map { "`\($0)`" }.joined(separator: ", ")).
            """),
        .setting(
            "backend", "max_connections", \.backend.maxConnections, .integer(1...10_000),
            "The most connections to the backend at a time."),
        .setting(
            "backend", "pass_through_connections", \.backend.passThroughConnections,
            .integer(0...9_999, zero: "half of `max_connections`"),
            "How many of them what passes through may take.",
            """
            The others are for syncs, so that slow uploads and downloads do not stop them. Fewer than `max_connections`; \
            each side has one at least.
            """),
        .setting(
            "backend", "ca_file", \.backend.caFile, ValueFormat<String>.text("path").optional,
            "Certificate authorities to trust instead of the system's, in PEM.",
            "A relative path is relative to this file. Empty: the system's. Verification cannot be switched off."),
        .setting(
            "backend", "pass_through", \.backend.passThrough, .boolean,
            "Whether every path that is not a sync path goes through to the backend.",
            """
            The client's path and query are appended to `url` as they stand: with `url = http://host/api`, `/users?x=1` \
            goes to `http://host/api/users?x=1`. Otherwise such requests are answered 404.
            """),
        .setting(
            "backend", "proxy_fields", \.backend.proxyFields, ValueFormat<String>.fieldName.list(),
            "Fields that the proxy before Rind sets for the backend, such as X-Auth-Request-User.",
            """
            What clients could say in the manner of a proxy does not pass through: names with underscores, X-Forwarded-…, \
            Remote-User, SSL-… and others (docs/SECURITY-MODEL.md). The fields that are listed here do, from a peer on \
            this machine only. The proxy must set or remove each of them in every request.
            """),
        .setting(
            "backend", "denied_paths", \.backend.deniedPaths, ValueFormat<PathPattern>.pathPattern.list(),
            "Paths that the pass-through refuses, with everything below them.",
            """
            They are relative to `url`, as clients write them, and compared decoded and without the case of letters. \
            The backend's own stream, ack, list, forget and stream push are always refused: who calls them moves the \
            gateway's checkpoints.
            """
        ),
    ]

    static let backendTiming: [Key] = [
        .setting(
            "backend", "connect_timeout", \.backend.connectTimeout, .duration(.milliseconds(10) ... .seconds(300)),
            "How long connecting may take, TLS included."),
        .setting(
            "backend", "first_byte_timeout", \.backend.firstByteTimeout,
            .duration(.milliseconds(10) ... .seconds(3600)),
            "How long the first byte of an answer may take."),
        .setting(
            "backend", "idle_timeout", \.backend.idleTimeout, .duration(.milliseconds(10) ... .seconds(3600)),
            "The longest silence within an answer.", "After that the stream counts as broken and is resumed."),
        .setting(
            "backend", "total_timeout", \.backend.totalTimeout,
            .duration(.milliseconds(10) ... .seconds(86_400), zero: "no limit"),
            "How long a whole call may take, the longest first sync included."),
        .setting(
            "backend", "resume_attempts", \.backend.resumeAttempts, .integer(0...100),
            "How often a broken stream is resumed before the pull fails."),
        .setting(
            "backend", "resume_backoff", \.backend.resumeBackoff, .duration(.milliseconds(1) ... .seconds(60)),
            "How long the first resume waits; each further one twice as long."),
    ]
}
