// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    static let backend: [Key] = [
        .setting(
            "backend", "url", at: \.backend.url, as: .baseURL, required: true, example: "http://127.0.0.1:2283/api",
            summary: "Where the backend is; every call goes below this URL and nowhere else."),
        .setting(
            "backend", "stream", at: \.backend.stream, as: .call(placeholders: ["types", "checkpoints"]),
            summary: "Opens the stream.",
            about: """
                `{types}` are the request types of the client's schema version; `{checkpoints}`, for `checkpoints = \
                request`, is an object of tokens by namespace. A placeholder alone in quotes becomes a JSON value. \
                `{path.team}` and `{query.farm_id}`, here and in every other call, are parts of the sync's address \
                (`[wire] scope`): what another call uses of it the stream must use too, and with `checkpoints = server` \
                also ack, list and forget.
                """),
        .setting(
            "backend", "ack", at: \.backend.ack, as: .callOrNone(placeholders: ["acks"]), summary: "Sets checkpoints.",
            about: "`{acks}` is a list of tokens."),
        .setting(
            "backend", "list", at: \.backend.list, as: .callOrNone(placeholders: []),
            summary: "Lists the session's checkpoints."),
        .setting(
            "backend", "forget", at: \.backend.forget, as: .callOrNone(placeholders: ["namespaces"]),
            summary: "Forgets checkpoints.",
            about: "`{namespaces}` is the list of their names."),
        .setting(
            "backend", "checkpoints", at: \.backend.checkpoints, as: .choice, summary: "Who keeps the checkpoints.",
            about: """
                `server`: the backend keeps one vector for each session, which ack, list and forget move. `request`: the \
                tokens travel in the stream request as `{checkpoints}`, and the backend keeps nothing.
                """),
        .setting(
            "backend", "complete_type", at: \.backend.completeType, as: .wireType,
            summary: "The type of the line that ends a complete stream."),
        .setting(
            "backend", "reset_type", at: \.backend.resetType, as: .wireType,
            summary: "The type of the line that asks the client to begin anew."),
        .setting(
            "backend", "ack_types", at: \.backend.ackTypes, as: ValueFormat<String>.wireType.list(),
            summary: "Types of lines that carry a token and no data."),
        .setting(
            "backend", "type_field", at: \.backend.typeField, as: .memberName,
            summary: "The member of a line that holds its type."),
        .setting(
            "backend", "ack_field", at: \.backend.ackField, as: .memberName,
            summary: "The member of a line that holds its token."),
        .setting(
            "backend", "data_field", at: \.backend.dataField, as: .memberName,
            summary: "The member of a line that holds the record."),
        .setting(
            "backend", "ack_batch", at: \.backend.ackBatch, as: .integer(1...100_000),
            summary: "The most tokens in one ack call."),
        .setting(
            "backend", "forward_headers", at: \.backend.forwardHeaders, as: ValueFormat<String>.fieldName.list(),
            summary: "The client's header fields that go along besides the credential.",
            about: """
                Host, Content-Length, Accept-Encoding, Expect and hop-by-hop fields are never forwarded, even if they are \
                listed. The backend may show other records where one of them has another value, as where it names a tenant. \
                So each is part of the credential, and thereby of the session, and of the caller with `principal = bearer` and \
                `cookie:NAME`, unless it is harmless (`harmless_headers`): with another value a device gets everything compared \
                anew.
                """),
        .setting(
            "backend", "harmless_headers", at: \.backend.harmlessHeaders, as: ValueFormat<String>.fieldName.list(),
            summary: "Those of `forward_headers` that say nothing about who is calling or what they may see.",
            about: """
                Such as one with the version of the app: its value may change without meaning another session. Always \
                harmless are \(Configuration.Backend.alwaysHarmless.map { "`\($0)`" }.joined(separator: ", ")).
                """),
        .setting(
            "backend", "max_connections", at: \.backend.maxConnections, as: .integer(1...10_000),
            restart: true, summary: "The most connections to the backend at a time."),
        .setting(
            "backend", "pass_through_connections", at: \.backend.passThroughConnections,
            as: .integer(0...9_999, zero: "half of `max_connections`"),
            restart: true, summary: "How many of them what passes through may take.",
            about: """
                The others are for syncs, so that slow uploads and downloads do not stop them. Fewer than `max_connections`; \
                each side has one at least. `[limits] tunnels` of them are for WebSockets and the like, half of the rest for \
                long uploads.
                """),
        .setting(
            "backend", "ca_file", at: \.backend.caFile, as: ValueFormat<String>.text("path").optional,
            restart: true, summary: "Certificate authorities to trust instead of the system's, in PEM.",
            about: "A relative path is relative to this file. Empty: the system's. Verification cannot be switched off."
        ),
        .setting(
            "backend", "client_certificate", at: \.backend.clientCertificate,
            as: ValueFormat<String>.text("path").optional, restart: true,
            summary: "The certificate that the backend asks Rind for, with its chain, in PEM.",
            about:
                "For a backend that only lets in whom it knows (mutual TLS). A relative path is relative to this file."
        ),
        .setting(
            "backend", "client_key", at: \.backend.clientKey, as: ValueFormat<String>.text("path").optional,
            restart: true, summary: "The private key of that certificate, in PEM and without a passphrase.",
            about: "Empty: it is in the certificate's file."),
        .setting(
            "backend", "pass_through", at: \.backend.passThrough, as: .boolean,
            summary: "Whether every path that is not a sync path goes through to the backend.",
            about: """
                The client's path and query are appended to `url` as they stand: with `url = http://host/api`, `/users?x=1` \
                goes to `http://host/api/users?x=1`. Otherwise such requests are answered 404.
                """),
        .setting(
            "backend", "proxy_fields", at: \.backend.proxyFields, as: ValueFormat<String>.fieldName.list(),
            summary: "Fields that the proxy before Rind sets for the backend, such as X-Auth-Request-User.",
            about: """
                What clients could say in the manner of a proxy does not pass through: names with underscores, X-Forwarded-…, \
                Remote-User, SSL-… and others (docs/SECURITY-MODEL.md). The fields that are listed here do, from \
                `[gateway] trusted_proxies` only. The proxy must set or remove each of them in every request.
                """),
        .setting(
            "backend", "denied_paths", at: \.backend.deniedPaths, as: ValueFormat<PathPattern>.pathPattern.list(),
            summary: "Paths that the pass-through refuses, with everything below them.",
            about: """
                They are relative to `url`, as clients write them, and compared decoded and without the case of letters. \
                The backend's own stream, ack, list, forget and stream push are always refused: who calls them moves the \
                gateway's checkpoints.
                """
        ),
    ]

    static let backendTiming: [Key] = [
        .setting(
            "backend", "connect_timeout", at: \.backend.connectTimeout,
            as: .duration(.milliseconds(10) ... .seconds(300)),
            summary: "How long connecting may take, TLS included."),
        .setting(
            "backend", "first_byte_timeout", at: \.backend.firstByteTimeout,
            as: .duration(.milliseconds(10) ... .seconds(3600)),
            summary: "How long the first byte of an answer may take."),
        .setting(
            "backend", "idle_timeout", at: \.backend.idleTimeout, as: .duration(.milliseconds(10) ... .seconds(3600)),
            summary: "The longest silence within an answer.",
            about: "After that the stream counts as broken and is resumed."),
        .setting(
            "backend", "total_timeout", at: \.backend.totalTimeout,
            as: .duration(.milliseconds(10) ... .seconds(86_400), zero: "no limit"),
            summary: "How long a whole call may take, the longest first sync included."),
        .setting(
            "backend", "resume_attempts", at: \.backend.resumeAttempts, as: .integer(0...100),
            summary: "How often a broken stream is resumed before the pull fails."),
        .setting(
            "backend", "resume_backoff", at: \.backend.resumeBackoff, as: .duration(.milliseconds(1) ... .seconds(60)),
            summary: "How long the first resume waits; each further one twice as long."),
        .setting(
            "backend", "breaker_failures", at: \.backend.breakerFailures, as: .integer(0...10_000, zero: "never"),
            summary: "After how many calls in a row without an answer syncs are refused for a while.",
            about: """
                Without an answer: no connection, a deadline that has passed, or 502, 503 and 504 of a server in between. \
                Any other answer begins anew. What one user alone meets does not count, except connections that cannot be \
                made. Syncs are then answered 503 (`backend.circuit_open`) at once; what passes through is tried as ever.
                """),
        .setting(
            "backend", "breaker_open", at: \.backend.breakerOpen, as: .duration(.milliseconds(100) ... .seconds(3600)),
            summary: "For how long they are refused before the backend is tried again."),
        .setting(
            "backend", "breaker_trials", at: \.backend.breakerTrials, as: .integer(1...1_000),
            summary: "How many calls at a time try it then; the first answer ends the refusals."),
    ]
}
