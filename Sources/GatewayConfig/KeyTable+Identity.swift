// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    static let identity: [Key] = [
        .setting(
            "identity", "principal", at: \.identity.principal, as: .principal, required: true,
            example: "backend:GET /users/me id", summary: "Where the caller's lasting name comes from.",
            about: """
                `backend:METHOD /path PATH` asks the backend with the caller's credential and takes the text or integer \
                at PATH of its answer. `jwt:CLAIM` takes a claim of the caller's token, such as `sub`, a text or an \
                integer, after `jwt_keys` have verified it. `header:NAME` takes a field that `[gateway] trusted_proxies` set; it is sent \
                on to the backend, and refused from others. `cookie:NAME` takes a cookie's value. `bearer` takes the \
                bearer token itself: only where tokens live as long as the installation, because another token is another \
                principal. With `checkpoints = server` each credential of a user must be a session of its own at the \
                backend, or `session` must name it. There is no default: with a wrong one, users would get each other's \
                records, or begin anew at every login.
                """),
        .setting(
            "identity", "session", at: \.identity.session, as: ValueFormat<SessionSource>.session.optional,
            summary: "What names the caller's session at the backend, where credentials change within it.",
            about: """
                It counts with `checkpoints = server` only: there another session gets a full stream. `cookie:NAME` is one \
                cookie whose value stays while others change, `jwt:CLAIM` a claim of the verified token such as `sid`, \
                `header:NAME` a field that the app sends. Two sessions of the backend must never have one name. Empty, or \
                where a request has no such value: the session is that of its credential.
                """),
        .setting(
            "identity", "key", at: \.identity.key, as: .secret(atLeast: 32), required: true, secret: true,
            restart: true, example: "@file:/etc/rind/identity.key",
            summary: "The key under which principals and sessions are stored.",
            about: """
                The state holds only HMACs made with it, so it must outlive the state: with another key nobody is \
                recognised, and no gateway starts on it. Make one with `openssl rand -hex 32`.
                """),
        .setting(
            "identity", "auth_ttl", at: \.identity.authTTL, as: .duration(.zero ... .seconds(3600)),
            summary: "How long the backend's yes to a credential counts.",
            about: """
                Nothing is answered from the gateway's own state, and nothing written to it, unless the backend has accepted \
                this very credential within this time. With `backend:` it is asked again after this time who the caller is, \
                however often it has accepted the credential meanwhile. Zero asks every time.
                """),
    ]

    /// The keys of `[identity]` for tokens that the gateway itself verifies.
    static let tokens: [Key] = [
        .setting(
            "identity", "jwt_keys", at: \.identity.jwtKeys, as: ValueFormat<TokenKeySource>.tokenKeys.optional,
            summary: "The public keys of the issuer of tokens: a file, or the URL of its JWKS.",
            about: """
                A file has keys or certificates in PEM, or a JWKS; a relative path is relative to this file. It is read at \
                the start and at each reload. What a URL serves is fetched at the start, every `jwt_refresh`, and for a \
                token whose key may be a new one. No redirect is followed.
                """),
        .setting(
            "identity", "jwt_ca_file", at: \.identity.jwtCAFile, as: ValueFormat<String>.text("path").optional,
            restart: true, summary: "Certificate authorities to trust for that URL instead of the system's, in PEM."),
        .setting(
            "identity", "jwt_algorithms", at: \.identity.jwtAlgorithms,
            as: ValueFormat<TokenAlgorithm>.tokenAlgorithm.list(atLeast: 1),
            summary: "The algorithms that a token may be signed with.",
            about: "A key serves only the algorithms of its kind, and if the JWKS names one, only that."),
        .setting(
            "identity", "jwt_issuer", at: \.identity.jwtIssuer, as: ValueFormat<String>.text("text").optional,
            summary: "The `iss` that tokens must have. Empty: any."),
        .setting(
            "identity", "jwt_audience", at: \.identity.jwtAudience, as: ValueFormat<String>.text("text").list(),
            summary: "The audiences of which a token must have one in its `aud`. Empty: any.",
            about: "Where the issuer serves other programs too, their tokens would otherwise count here."),
        .setting(
            "identity", "jwt_leeway", at: \.identity.jwtLeeway, as: .duration(.zero ... .seconds(600)),
            summary: "How far the issuer's clock may be off, for `exp` and `nbf`.",
            about: "A token without `exp` is refused, whatever this is."),
        .setting(
            "identity", "jwt_refresh", at: \.identity.jwtRefresh, as: .duration(.seconds(10) ... .seconds(86_400)),
            summary: "How often the JWKS is fetched."),
        .setting(
            "identity", "jwt_stale", at: \.identity.jwtStale, as: .duration(.zero ... .seconds(604_800)),
            summary: "How long keys count that could not be fetched again since.",
            about: "From `jwt_refresh` on. After that callers are answered 503 until the JWKS is there again."),
    ]
}
