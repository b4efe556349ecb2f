// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import Testing

/// A key with values that it takes and values that it refuses.
struct KeyCase: Sendable, CustomTestStringConvertible {
    var section: String
    var name: String
    var good: [String]
    var bad: [String]

    init(_ section: String, _ name: String, good: [String], bad: [String]) {
        (self.section, self.name, self.good, self.bad) = (section, name, good, bad)
    }

    var testDescription: String { "[\(section)] \(name)" }

    /// A file with this key, which stands in line `line`.
    func file(_ value: String) -> (text: String, line: Int) {
        var required = [
            "identity": ["principal": "bearer", "key": Support.key], "backend": ["url": "http://backend.test"],
        ]
        required[section]?[name] = nil
        // Values that are only right beside another one.
        if section == "backend", name == "checkpoints", value == "request" {
            required["backend"]?["stream"] = #"POST /s body {"types":"{types}","c":"{checkpoints}"}"#
        }
        if section == "backend", ["ack", "list", "forget"].contains(name), value == "none" || value.isEmpty {
            required["backend"]?["checkpoints"] = "request"
            required["backend"]?["stream"] = #"POST /s body {"types":"{types}","c":"{checkpoints}"}"#
        }
        if name == "harmless_headers" { required["backend"]?["forward_headers"] = "X-A, X-B" }
        if section == "gateway", name == "sync_path", value.isEmpty {
            required["gateway"] = ["pull_path": "/a", "push_path": "/b"]
        }
        if section == "schema", name != "version" { required["schema"] = ["version": "1000000000"] }
        if section == "backend", name == "pass_through_connections" {
            required["backend", default: [:]]["max_connections"] = "10000"
        }
        if name == "tls_key", !value.isEmpty { required["gateway"] = ["tls_certificate": "a.pem"] }
        // Values that are only right beside another one.
        if value.hasPrefix("jwt:") { required["identity"]?["jwt_keys"] = "keys.pem" }
        if value.hasPrefix("header:") { required["gateway"] = ["trusted_proxies": "10.0.0.1"] }
        if name == "client_key", !value.isEmpty { required["backend"]?["client_certificate"] = "a.pem" }
        if section == "limits", name == "tunnels" {
            required["backend", default: [:]]["max_connections"] = "10000"
            required["backend"]?["pass_through_connections"] = "9999"
            required["limits"] = ["connections": "100000"]
        }
        if section == "limits", name == "body" {
            required["limits"] = ["inflated_body": "16GiB", "push_memory": "16GiB"]
        }
        if section == "limits", name == "inflated_body" {
            required["limits"] = ["body": "1KiB", "push_memory": "16GiB"]
        }
        if section == "limits", name == "push_memory" {
            required["limits"] = ["body": "1KiB", "inflated_body": "1KiB"]
        }
        if section == "spool", name == "memory" {
            required["spool"] = ["max": "16384GiB", "memory_total": "16384GiB", "disk_total": "16384GiB"]
        }
        if section == "spool", name == "max" || name == "disk_total" {
            required["spool"] = ["memory": "64KiB"]
            required["spool"]?[name == "max" ? "disk_total" : "max"] = name == "max" ? "16384GiB" : "1MiB"
            required["pull"] = ["max_line": "1KiB"]
        }
        if section == "spool", name == "memory_total" { required["spool"] = ["memory": "64KiB"] }
        if section == "ledger", name == "rewind" { required["ledger"] = ["max_offline": "3650d"] }
        if section == "ledger", name == "max_offline" { required["ledger"] = ["rewind": "0s"] }
        if section == "wire", name == "push_table" {
            required["table albums"] = ["request": "A", "upsert": "B"]
            required["columns albums"] = ["name": "string"]
        }
        var lines = ["[\(section)]", "\(name) = \(value)"]
        lines += (required.removeValue(forKey: section) ?? [:]).map { "\($0.key) = \($0.value)" }
        for (section, keys) in required { lines += ["[\(section)]"] + keys.map { "\($0.key) = \($0.value)" } }
        return (lines.joined(separator: "\n") + "\n", 2)
    }

    static func duration(_ section: String, _ name: String, low: String, below: String?, high: String, above: String)
        -> Self
    {
        KeyCase(
            section, name, good: [low, high],
            bad: [above, "10", "30 sec", "-1s", "1.5s", "", "x"] + (below.map { [$0] } ?? []))
    }

    static func size(_ section: String, _ name: String, low: String, below: String?, high: String, above: String)
        -> Self
    {
        KeyCase(
            section, name, good: [low, high],
            bad: [above, "10", "1MB", "-1B", "1.5MiB", "", "x", "99999999999999999GiB"]
                + (below.map { [$0] } ?? []))
    }

    static func integer(_ section: String, _ name: String, low: Int, high: Int) -> Self {
        KeyCase(
            section, name, good: ["\(low)", "\(high)"],
            bad: ["\(low - 1)", "\(high + 1)", "1.5", "+1", "0x10", "x", "99999999999999999999"])
    }

    static func names(_ section: String, _ name: String, required: Bool = false) -> Self {
        KeyCase(
            section, name, good: ["a", "a, bC, _d"] + (required ? [] : [""]),
            bad: ["a,,b", "a, a", "a b"] + (required ? [""] : []))
    }
}

@Suite struct KeyTests {
    private static let paths = ["/", "/sync", "/v1/{team}/sync", "/a/"]
    private static let notPaths = ["sync", "//a", "/a/../b", "/a b", "/{a}b", "/{", "/ä"]

    private static let cases: [KeyCase] = [
        KeyCase(
            "gateway", "listen", good: ["0.0.0.0:80", "[::1]:0", "unix:/run/rind.sock", "localhost:65535"],
            bad: ["80", ":80", "host", "host:65536", "[::1]", "::1:80", "a b:1", ""]),
        KeyCase("gateway", "sync_path", good: paths + [""], bad: notPaths),
        KeyCase("gateway", "pull_path", good: paths + ["", "/a, /b/{c}"], bad: notPaths + ["/a,/a", "/a,,/b"]),
        KeyCase("gateway", "push_path", good: paths + ["", "/a, /b/{c}"], bad: notPaths + ["/a,/a", "/a,,/b"]),
        KeyCase(
            "gateway", "cors_origins",
            good: ["", "*", "https://app.test, http://localhost:3000", "myapp1://localhost, app://., a+b-c.d://x"],
            bad: [
                "app.test", "https://app.test/", "https://", "HTTPS://app.test", "https://a.test:x", "https://a.test:0",
                "https://a.test:65536", "null", "1app://localhost", "app://..", "app://./",
            ]),
        .duration("gateway", "shutdown_grace", low: "0s", below: nil, high: "10m", above: "601s"),
        .duration("gateway", "shutdown_delay", low: "0s", below: nil, high: "10m", above: "601s"),
        KeyCase(
            "gateway", "trusted_proxies",
            good: ["", "10.0.0.0/8, fd00::/8", "127.0.0.1", "0.0.0.0/0", "::ffff:1.2.3.4"],
            bad: [
                "localhost", "10.0.0.1/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "fe80::1%eth0",
                "10.0/8",
            ]),
        KeyCase("gateway", "tls_certificate", good: ["", "tls.pem"], bad: ["\"a\" b"]),
        KeyCase("gateway", "tls_key", good: ["", "tls.key"], bad: ["\"a\" b"]),
        KeyCase("gateway", "proxy_protocol", good: ["true", "false"], bad: ["", "on", "True", "1"]),
        .names("wire", "last_pulled_at", required: true),
        .names("wire", "schema_version", required: true),
        .names("wire", "migration", required: true),
        .names("wire", "changes", required: true),
        KeyCase("wire", "scope", good: ["", "farm_id", "farm_id, year"], bad: ["a b", "a.b", "x,x"]),
        KeyCase("wire", "body_path", good: ["", "/json", "/a/b~1c~0"], bad: ["json", "/a//b", "/"]),
        KeyCase("wire", "push_table", good: ["", "albums"], bad: ["albms", "a b"]),
        KeyCase("wire", "token_header", good: ["", "X-Api-Key", "x-a, x-b"], bad: ["a b", "x:", "x,x", "host"]),
        KeyCase("wire", "timestamp", good: ["timestamp", "latestVersion"], bad: ["", "a b"]),
        KeyCase("wire", "wrap", good: ["", "data", "data.result"], bad: ["a..b", ".a"]),
        KeyCase(
            "state", "url",
            good: ["sqlite:a.db", "sqlite:/var/lib/rind/state.db", "postgres://rind@db/rind", "postgresql:///rind"],
            bad: ["", "a.db", "sqlite:", "sqlite::memory:", "sqlite:/tmp/", "postgres:rind", "postgressql://a"]),
        KeyCase(
            "state", "schema", good: ["rind", "a_1", "_x"],
            bad: ["", "Rind", "1a", "a-b", "pg_catalog", String(repeating: "a", count: 64)]),
        KeyCase("state", "prepare", good: ["true", "false"], bad: ["", "on"]),
        KeyCase("state", "pool_size", good: ["1", "1000"], bad: ["0", "1001", "many"]),
        .duration("state", "connect_timeout", low: "2s", below: "1s", high: "60s", above: "61s"),
        .duration("state", "statement_timeout", low: "100ms", below: "99ms", high: "60s", above: "61s"),
        .duration("state", "lease", low: "1s", below: "999ms", high: "600s", above: "601s"),
        .duration("state", "busy_timeout", low: "10ms", below: "9ms", high: "60s", above: "61s"),
        KeyCase(
            "identity", "principal",
            good: [
                "bearer", "cookie:sid", "jwt:sub", "jwt:https://id.test/user", "header:X-User",
                "backend:GET /users/me id", "backend:POST /me data.0.\"the id\"",
            ],
            bad: [
                "", "jwt:", "jwt:a b", "header:", "header:X User", "header:Cookie", "header:host", "cookie:",
                "cookie:a b", "backend:GET /me", "backend:DELETE /me id", "backend:GET me id", "backend:GET /{a} id",
                "backend:GET /me id x", "beare", "bearer:x", "jwt", "jwk:sub",
            ]),
        KeyCase(
            "identity", "session", good: ["", "jwt:sid", "header:X-Device", "cookie:sid"],
            bad: ["bearer", "jwt:", "header:a b", "cookie:", "backend:GET /me id"]),
        KeyCase(
            "identity", "jwt_keys",
            good: ["", "keys.pem", "/etc/rind/jwks.json", "https://id.test/jwks.json", "http://127.0.0.1:1/keys"],
            bad: [
                "http://id.test/jwks", "https://", "https://user:secret@id.test/", "https://id.test/keys?a=1",
                "\"a\" b",
            ]),
        KeyCase("identity", "jwt_ca_file", good: ["", "ca.pem"], bad: ["\"a\" b"]),
        KeyCase(
            "identity", "jwt_algorithms", good: ["RS256", "ES256, EdDSA, PS512"],
            bad: ["", "none", "HS256", "RS256, HS512", "rs256", "ES256K", "RS256, RS256"]),
        KeyCase("identity", "jwt_issuer", good: ["", "https://id.test/"], bad: ["\"a\" b"]),
        KeyCase("identity", "jwt_audience", good: ["", "sync", "a, https://b.test"], bad: ["a,,b", "a, a"]),
        .duration("identity", "jwt_leeway", low: "0s", below: nil, high: "10m", above: "601s"),
        .duration("identity", "jwt_refresh", low: "10s", below: "9s", high: "1d", above: "86401s"),
        .duration("identity", "jwt_stale", low: "0s", below: nil, high: "7d", above: "604801s"),
        KeyCase(
            "identity", "key", good: [Support.key, "\"\(Support.key)\""], bad: ["", "short", "\"\(Support.key)\" x"]),
        .duration("identity", "auth_ttl", low: "0s", below: nil, high: "1h", above: "3601s"),
        KeyCase(
            "backend", "url", good: ["http://a", "https://a.test:8443/api/", "http://[::1]:80", "http://127.0.0.1"],
            bad: [
                "", "a.test", "ftp://a", "http://", "http://u:p@a", "http://a?b", "http://a#b", "http://a/../b",
                "http://a//b", "http://a:0", "http://a:99999", "http://a b", "http://a/ä",
            ]),
        KeyCase(
            "backend", "stream", good: ["POST /s body {\"types\":\"{types}\"}", "GET /s?types={types}"],
            bad: [
                "", "none", "/s", "POST", "POST s", "POST /s body", "POST /s body {", "POST /s body {} x", "POST /{x}",
                "POST /s {\"types\":1}", "POST /s ok 200", "POST /s body {\"a\":\"{acks}\"}",
                "POST /s body {\"a\":1,\"a\":2}",
                "POST /s body {*}",
            ]),
        KeyCase(
            "backend", "ack", good: ["PUT /a body [\"{acks}\"]", "none", ""],
            bad: ["PUT", "PUT /a body {\"a\":\"{types}\"}"]),
        KeyCase("backend", "list", good: ["GET /a", "none", ""], bad: ["LIST /a", "GET /{acks}"]),
        KeyCase(
            "backend", "forget", good: ["DELETE /a?n={namespaces}", "none", ""],
            bad: ["DELETE a", "DELETE /a/{types}"]),
        KeyCase("backend", "checkpoints", good: ["server", "request"], bad: ["", "client", "Server"]),
        KeyCase("backend", "complete_type", good: ["DoneV1", "\"done\""], bad: ["", "a b", "a|b", "SyncResetV1"]),
        KeyCase("backend", "reset_type", good: ["ResetV1"], bad: ["", "a b", "SyncAckV1"]),
        KeyCase("backend", "ack_types", good: ["", "A", "A, B"], bad: ["A B", "A,A", "SyncCompleteV1"]),
        KeyCase("backend", "type_field", good: ["kind"], bad: ["", "a b", "ack"]),
        KeyCase("backend", "ack_field", good: ["token"], bad: ["", "a b", "data"]),
        KeyCase("backend", "data_field", good: ["record"], bad: ["", "a b", "type"]),
        KeyCase("backend", "idmap_type", good: ["", "IdMapV1"], bad: ["a b", "a|b", "SyncAckV1"]),
        KeyCase("backend", "idmap_table", good: ["table"], bad: ["", "a b"]),
        KeyCase("backend", "idmap_client", good: ["client_id"], bad: ["", "a b"]),
        KeyCase("backend", "idmap_backend", good: ["backend_id"], bad: ["", "a b"]),
        .integer("backend", "ack_batch", low: 1, high: 100_000),
        KeyCase("backend", "forward_headers", good: ["", "Accept-Language, X-A"], bad: ["a b", "x:", "a,A"]),
        KeyCase("backend", "harmless_headers", good: ["", "X-A, X-B"], bad: ["a b", "x:", "a,A", "Authorization"]),
        KeyCase("limits", "tunnels", good: ["", "0", "9998"], bad: ["-1", "9999", "many", "1.5"]),
        KeyCase("limits", "tunnels_per_client", good: ["", "1", "9998"], bad: ["0", "9999", "many"]),
        .duration("limits", "tunnel_idle", low: "10ms", below: "0s", high: "1d", above: "25h"),
        .integer("backend", "max_connections", low: 1, high: 10_000),
        .integer("backend", "pass_through_connections", low: 0, high: 9_999),
        KeyCase("backend", "ca_file", good: ["", "ca.pem", "\"/etc/my ca.pem\""], bad: ["\"a\" b"]),
        KeyCase("backend", "client_certificate", good: ["", "rind.pem"], bad: ["\"a\" b"]),
        KeyCase("backend", "client_key", good: ["", "rind.key"], bad: ["\"a\" b"]),
        KeyCase("backend", "pass_through", good: ["true", "false"], bad: ["", "yes", "True", "1"]),
        KeyCase("backend", "proxy_fields", good: ["", "X-User, SSL-Client-Cert"], bad: ["a b", "x:", "a,A"]),
        KeyCase("backend", "denied_paths", good: ["", "/admin, /users/{id}/key"], bad: notPaths),
        .duration("backend", "connect_timeout", low: "10ms", below: "9ms", high: "5m", above: "301s"),
        .duration("backend", "first_byte_timeout", low: "10ms", below: "0s", high: "1h", above: "2h"),
        .duration("backend", "idle_timeout", low: "10ms", below: "0s", high: "1h", above: "2h"),
        .duration("backend", "total_timeout", low: "0s", below: "9ms", high: "1d", above: "25h"),
        .integer("backend", "resume_attempts", low: 0, high: 100),
        .duration("backend", "resume_backoff", low: "1ms", below: "0s", high: "60s", above: "61s"),
        .integer("schema", "version", low: 1, high: 1_000_000_000),
        .integer("schema", "oldest", low: 1, high: 1_000_000_000),
        .integer("schema", "migrations_enabled_at", low: 0, high: 1_000_000_000),
        KeyCase(
            "schema", "version_from", good: ["header:X-Schema-Version", "header: x", ""],
            bad: ["X-Schema-Version", "header:", "header:a b", "header:Cookie", "cookie:a"]),
        .duration("pull", "first_byte_after", low: "0s", below: "9ms", high: "10m", above: "11m"),
        .duration("pull", "keep_alive_every", low: "10ms", below: "0s", high: "10m", above: "11m"),
        .duration("pull", "repeat_window", low: "0s", below: "9ms", high: "1h", above: "2h"),
        KeyCase("pull", "unknown_cursor", good: ["adopt", "replacement", "refuse"], bad: ["", "adpot", "Adopt"]),
        .size("pull", "max_line", low: "1KiB", below: "1023B", high: "1GiB", above: "2GiB"),
        .integer("pull", "max_rows", low: 0, high: 1_000_000_000),
        KeyCase("pull", "quarantine_keep", good: ["no", "cut", "whole"], bad: ["", "yes"]),
        KeyCase(
            "push", "path", good: ["", "POST /sync/push"],
            bad: ["/sync/push", "POST", "POST /p body {}", "POST /p returns id", "none", "POST /{id}"]),
        .integer("push", "quarantine_entries", low: 1, high: 100_000),
        .size("push", "quarantine_record", low: "1KiB", below: "1023B", high: "16MiB", above: "17MiB"),
        KeyCase("push", "conflicts", good: ["auto", "stream", "backend", "none"], bad: ["", "streams", "None"]),
        KeyCase("push", "cascade", good: ["backend", "gateway"], bad: ["", "none", "Gateway"]),
        KeyCase("push", "send", good: ["row", "changed"], bad: ["", "rows", "Row"]),
        KeyCase("push", "without_cursor", good: ["accept", "refuse"], bad: ["", "accepts"]),
        KeyCase("push", "rejected", good: ["fail", "report", "quarantine"], bad: ["", "failed"]),
        .duration("push", "retry_budget", low: "0s", below: "9ms", high: "5m", above: "301s"),
        .integer("push", "batch", low: 0, high: 1_000_000),
        .integer("push", "parallel", low: 1, high: 64),
        KeyCase("push", "idempotency_header", good: ["", "Idempotency-Key"], bad: ["a b", "x:", "a,A"]),
        .duration("push", "idempotency_life", low: "1m", below: "59s", high: "30d", above: "31d"),
        .integer("push", "max_records", low: 1, high: 10_000_000),
        .integer("push", "max_ids", low: 1, high: 100_000_000),
        .duration("push", "receipt_window", low: "0s", below: "9ms", high: "2m", above: "121s"),
        KeyCase("spool", "dir", good: ["", "/var/tmp"], bad: ["\"a"]),
        .size("spool", "memory", low: "64KiB", below: "63KiB", high: "16GiB", above: "17GiB"),
        .size("spool", "max", low: "1MiB", below: "1023KiB", high: "16384GiB", above: "16385GiB"),
        .size("spool", "memory_total", low: "1MiB", below: "1023KiB", high: "16384GiB", above: "16385GiB"),
        .size("spool", "disk_total", low: "1MiB", below: "1023KiB", high: "16384GiB", above: "16385GiB"),
        KeyCase("ledger", "mode", good: ["full", "off"], bad: ["", "on", "Full", "full off"]),
        .duration("ledger", "resweep_every", low: "0s", below: "-1ms", high: "3650d", above: "3651d"),
        .integer("ledger", "resweep_parallel", low: 1, high: 10_000),
        .integer("ledger", "resweep_rows", low: 0, high: 1_000_000_000),
        .duration("ledger", "rewind", low: "0s", below: nil, high: "3650d", above: "3651d"),
        KeyCase(
            "ledger", "max_sweep", good: ["0%", "20%", "007%", "100%"],
            bad: ["", "20", "%", "101%", "-1%", "+1%", "2.5%", "20 %", "٢%", "9999%"]),
        .duration("ledger", "settle", low: "0s", below: nil, high: "1d", above: "25h"),
        .duration("ledger", "max_offline", low: "1d", below: "23h", high: "3650d", above: "3651d"),
        .size("limits", "body", low: "1KiB", below: "0B", high: "16GiB", above: "17GiB"),
        .size("limits", "inflated_body", low: "1KiB", below: "0B", high: "16GiB", above: "17GiB"),
        .size("limits", "push_memory", low: "1MiB", below: "1KiB", high: "1024GiB", above: "1025GiB"),
        .size("limits", "header_bytes", low: "1KiB", below: "0B", high: "1MiB", above: "2MiB"),
        .integer("limits", "json_depth", low: 4, high: 512),
        .integer("limits", "pulls", low: 1, high: 100_000),
        .integer("limits", "queue", low: 0, high: 10_000),
        .integer("limits", "client_rate", low: 0, high: 1_000_000),
        .integer("limits", "client_burst", low: 1, high: 1_000_000),
        .integer("limits", "principal_rate", low: 0, high: 1_000_000),
        .integer("limits", "principal_burst", low: 1, high: 1_000_000),
        .duration("limits", "queue_wait", low: "0s", below: nil, high: "10m", above: "11m"),
        .integer("limits", "connections", low: 16, high: 1_000_000),
        .duration("limits", "body_timeout", low: "10ms", below: "9ms", high: "1h", above: "2h"),
        .integer("limits", "body_rate", low: 0, high: 1_000_000_000),
        .duration("limits", "body_time", low: "10ms", below: "9ms", high: "1d", above: "2d"),
        .duration("limits", "linger", low: "10ms", below: "9ms", high: "10m", above: "11m"),
        .duration("limits", "keep_alive", low: "10ms", below: "9ms", high: "1h", above: "2h"),
        .duration("limits", "send_timeout", low: "10ms", below: "9ms", high: "1h", above: "2h"),
        .integer("limits", "send_rate", low: 0, high: 1_000_000_000),
        .size("limits", "memory", low: "0B", below: nil, high: "16384GiB", above: "16385GiB"),
        .size("limits", "answers_kept", low: "0B", below: nil, high: "16384GiB", above: "16385GiB"),
        KeyCase("log", "level", good: ["trace", "critical"], bad: ["", "verbose"]),
        KeyCase("log", "format", good: ["text", "json"], bad: ["", "xml"]),
        .integer("backend", "breaker_failures", low: 0, high: 10_000),
        .duration("backend", "breaker_open", low: "100ms", below: "99ms", high: "1h", above: "2h"),
        .integer("backend", "breaker_trials", low: 1, high: 1_000),
        .integer("admin", "stuck_repeats", low: 0, high: 1_000),
        .integer("admin", "stuck_pushes", low: 0, high: 1_000),
        .duration("admin", "stuck_after", low: "1m", below: "59s", high: "365d", above: "366d"),
        KeyCase("admin", "listen", good: ["", "127.0.0.1:9000"], bad: ["9000", "127.0.0.1:8790"]),
    ]

    @Test func `every key of the table has cases here`() {
        let keys = KeyTable.keys.filter { $0.section != "table" }.map { "\($0.section).\($0.name)" }
        #expect(Set(keys) == Set(Self.cases.map { "\($0.section).\($0.name)" }))
        #expect(keys.count == Set(keys).count)
    }

    @Test(arguments: cases)
    func `a key takes what is in its limits`(key: KeyCase) {
        for value in key.good {
            let (configuration, diagnostics) = Support.load(key.file(value).text)
            #expect(configuration != nil, "\(value): \(Support.rendered(diagnostics))")
        }
    }

    @Test(arguments: cases)
    func `a key refuses what is not, on its own line`(key: KeyCase) {
        for value in key.bad {
            let (text, line) = key.file(value)
            let (configuration, diagnostics) = Support.load(text)
            let errors = diagnostics.filter { $0.severity == .error }
            #expect(configuration == nil, "\(value)")
            #expect(
                errors.contains { $0.position.line == line && $0.position.file == "config/rind.ini" }
                    || errors.contains { $0.note?.position.line == line }, "\(value): \(Support.rendered(diagnostics))")
        }
    }

    @Test(arguments: cases)
    func `a variable overrides a key, and its mistakes are its own`(key: KeyCase) throws {
        let variable = "RIND_\(key.section.uppercased())_\(key.name.uppercased())"
        #expect(KeyTable.keys(of: key.section).first { $0.name == key.name }?.variable == variable)
        let file = key.file(key.good[0]).text
        // The file's own value is wrong, and does not matter.
        let wrong = file.replacing("\(key.name) = \(key.good[0])", with: "\(key.name) = ${NOT_SET}")
        #expect(Support.load(wrong, environment: [variable: key.good[0]]).configuration != nil)
        let bad = try #require(key.bad.first { !$0.isEmpty })
        let (configuration, diagnostics) = Support.load(file, environment: [variable: bad])
        #expect(configuration == nil)
        #expect(
            diagnostics.contains { $0.position.file == "environment:\(variable)" },
            "\(bad): \(Support.rendered(diagnostics))")
    }

    @Test(arguments: cases)
    func `a reload applies a key, or keeps its running value and names it`(key: KeyCase) throws {
        let row = try #require(KeyTable.keys(of: key.section).first { $0.name == key.name })
        let configurations = key.good.compactMap { Support.load(key.file($0).text).configuration }
        let running = try #require(configurations.first)
        let loaded = try #require(configurations.last)
        guard running != loaded else { return }
        let (applied, names, _) = loaded.applicable(while: running)
        #expect(applied == (row.needsRestart ? running : loaded))
        #expect(names.contains("\(key.section).\(key.name)") == row.needsRestart)
    }

    @Test(
        arguments: KeyTable.keys.filter { $0.section != "table" && !($0.defaultText ?? "").isEmpty }.map {
            "\($0.section).\($0.name)"
        })
    func `a default written into the file changes nothing`(path: String) throws {
        let key = try #require(KeyTable.keys.first { "\($0.section).\($0.name)" == path })
        let text = "[\(key.section)]\n\(key.name) = \(key.defaultText ?? "")\n"
        let required = [
            "RIND_IDENTITY_PRINCIPAL": "bearer", "RIND_IDENTITY_KEY": Support.key, "RIND_BACKEND_URL": "http://a",
        ]
        let configuration = try #require(Support.load(text, environment: required).configuration)
        let plain = try #require(Support.load("", environment: required).configuration)
        #expect(String(reflecting: configuration) == String(reflecting: plain))
    }
}
