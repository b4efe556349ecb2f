// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension RequestMutator {
    /// Fields that do not frame the message, so that there is one answer whatever they do.
    static let oddFields: [(name: String, value: String)] = [
        ("Host", "other.example"), ("Authorization", "Bearer mutant-1"), ("Authorization", "Basic ="),
        ("authorization", ""), ("Cookie", "demo_access_token=mutant-2; a=b"), ("Cookie", ";;=;"),
        ("X-Forwarded-For", "127.0.0.1, ::1"), ("X_Forwarded_For", "127.0.0.1"), ("X-Forwarded-Host", "evil"),
        ("Forwarded", "for=\"[::1]\";host=x"), ("X-Real-IP", "10.0.0.1"), ("Remote_User", "root"),
        ("Proxy", "http://x"),
        ("X-Auth-Request-User", "root"), ("SSL-Client-Cert", "-"), ("X-Request-Id", "a b\"c"),
        ("X-Request-Id", "0123456789012345678901234567890123456789012345678901234567890123456789"),
        ("Connection", "keep-alive, X-Real-IP"), ("Connection", "Authorization"), ("Keep-Alive", "timeout=0"),
        ("Upgrade", "h2c"), ("Upgrade", "websocket"), ("HTTP2-Settings", "AAMAAABkAAQAAP"), ("TE", "trailers, gzip"),
        ("Trailer", "Content-Length"), ("Accept", "application/json;q=0, text/html"), ("Accept", ""),
        ("Accept-Encoding", "gzip;q=0.0, *;q=1"), ("Accept-Encoding", "gzip, gzip;q=x, ;;,"), ("Range", "bytes=5-1"),
        ("If-Match", "*"), ("If-None-Match", "\"x\", W/\"y\""), ("If-Modified-Since", "never"), ("Origin", "null"),
        ("Access-Control-Request-Method", "PUT"), ("Content-Type", "application/x-www-form-urlencoded"),
        ("Content-Type", "multipart/form-data; boundary="), ("Content-Language", "x"), ("Via", "1.1 x"),
        ("Max-Forwards", "0"), ("Idempotency-Key", "k"), ("X-Trial", "7-7"), ("X-HTTP-Method-Override", "DELETE"),
        ("Prefer", "return=minimal"), ("User-Agent", "\u{202e}ä"), ("Accept-Language", "\t\t,"), ("X-Empty", ""),
    ]

    /// Fields that two readers of the message may take differently.
    static let framingFields: [(name: String, value: String)] = [
        ("Content-Length", "0"), ("Content-Length", "3"), ("Content-Length", "3, 3"), ("Content-Length", "+3"),
        ("Content-Length", "-1"), ("Content-Length", "0x10"), ("Content-Length", "9223372036854775807"),
        ("Content-Length", "9223372036854775808"), ("Content-Length", "18446744073709551617"),
        ("Content-Length", ""), ("Content_Length", "3"), ("Content-Length ", "3"), (" Content-Length", "3"),
        ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "identity"), ("Transfer-Encoding", "gzip, chunked"),
        ("Transfer-Encoding", "chunked, chunked"), ("Transfer-Encoding", "chunked;q=1"),
        ("Transfer-Encoding", "xchunked"),
        ("Transfer-Encoding", "\u{b}chunked"), ("Transfer_Encoding", "chunked"), ("transfer-encoding", "Chunked"),
        ("Transfer-Encoding", ""), ("Expect", "100-continue"), ("Expect", "200-ok"), ("Connection", "close"),
        ("Connection", "Content-Length"), ("Connection", "Transfer-Encoding"), ("Trailer", "Transfer-Encoding"),
    ]

    static let chunkSizes = [
        "-5", "+5", "0x5", "5 ", " 5", "00000000000000000005", "ffffffffffffffff", "7fffffffffffffff",
        "10000000000000000",
        "g", "", "5;a=\"\r\n\"", "5\n", "1e", "0",
    ]

    static let targets = [
        "*", "/", "", "//", "/..", "/%2e%2e/sync/ack", "/%2E%2e%2fsync", "/a%00b", "/a%0d%0aX:%20y", "/a;b=c", "/a\\b",
        "/%", "/%zz", "/%u0041", "/%c0%ae%c0%ae/", "/a#b", "/a?b?c#d", "http://other.example/tasks", "http://",
        "HTTP://x",
        "https://user:pw@h/x", "other.example:443", "/sync?", "/sync?last_pulled_at", "/sync?last_pulled_at=&=&&",
        "/sync?last_pulled_at=1&last_pulled_at=2", "/sync?last_pulled_at=%31%2e5e3", "/sync?lastPulledAt[]=1",
        "/sync/", "/sync/pull", "/sync/push", "/SYNC", "/sync;v=1?x", "/sync%3Fx", "/./tasks", "/tasks/./x",
        "/tasks//x",
        "/ä", "/tasks/%E4", "?x", "tasks", "/admin.json", "/users/me%20", "/users/me.", "/livez/", "/livez?x=%",
    ]

    static let methods = [
        "TRACE", "CONNECT", "PRI", "get", "Get", "PUT", "DELETE", "PATCH", "PROPFIND", "X", "M-SEARCH", "GET\t", "",
        "AVERYLONGMETHODTHATNOBODYKNOWSAVERYLONGMETHODTHATNOBODYKNOWS", "LINK", "PURGE", "QUERY", "BREW", "G ET",
    ]
}
