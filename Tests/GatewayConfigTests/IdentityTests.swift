// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import Testing

/// What the keys of `[identity]` demand of each other.
@Suite struct IdentityTests {
    private static func load(
        _ identity: String, _ more: String = ""
    ) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        Support.load(
            "[identity]\nkey = \(Support.key)\n\(identity)\n[backend]\nurl = http://b.test\n\(more)\n"
                + "[table albums]\nrequest = A\nupsert = B\n[columns albums]\nname = string\n")
    }

    @Test(
        arguments: [
            ("principal = jwt:sub", "", "tokens need keys"),
            ("principal = bearer\nsession = jwt:sid", "", "tokens need keys"),
            ("principal = header:X-User", "", "which proxies"),
            ("principal = header:X-User", "[gateway]\ntrusted_proxies =", "which proxies"),
            (
                "principal = header:X-User", "[gateway]\ntrusted_proxies = 10.0.0.1\n[wire]\ntoken_header = x-user",
                "cannot be the field of a proxy"
            ),
            ("principal = bearer", "[gateway]\ntls_key = a.key", "the key of no certificate"),
        ])
    func `a source without what it needs is a mistake`(_ identity: String, _ more: String, _ message: String) {
        let (configuration, diagnostics) = Self.load(identity, more)
        #expect(configuration == nil)
        #expect(diagnostics.contains { $0.severity == .error && $0.message.contains(message) }, "\(diagnostics)")
    }

    @Test func `a proxy at a Unix socket needs no address`() throws {
        let (configuration, diagnostics) = Self.load(
            "principal = header:X-User", "[gateway]\nlisten = unix:/run/rind/rind.sock")
        #expect(configuration?.identity.proxyField == "x-user" && diagnostics.isEmpty)
    }

    @Test func `a reload never takes names over TCP from proxies that nobody has stated`() throws {
        func load(_ principal: String, _ gateway: String) throws -> Configuration {
            try #require(Self.load("principal = \(principal)", "[gateway]\n\(gateway)").configuration)
        }
        let (tcp, unix) = ("listen = 127.0.0.1:8080\n", "listen = unix:/run/rind/rind.sock\n")
        let running = try load("bearer", tcp)
        let unstated = try load("header:X-User", unix).applicable(while: running)
        #expect(unstated.configuration.gateway.listen == running.gateway.listen)
        #expect(unstated.obstacle?.contains("trusted_proxies") == true)
        for (loaded, running) in [
            (try load("header:X-User", unix + "trusted_proxies = 10.0.0.1"), running),
            (try load("header:X-User", unix), try load("bearer", unix)), (try load("bearer", unix), running),
        ] {
            #expect(loaded.applicable(while: running).obstacle == nil)
        }
    }

    @Test(
        arguments: [
            ("", true), ("jwt_issuer = a\nsession = jwt:sid", false),
            ("jwt_audience = a", true), ("jwt_audience = a\nsession = jwt:sid", false), ("session = jwt:sid", true),
        ])
    func `what counts too widely, or costs full streams, is warned of`(_ keys: String, _ warns: Bool) {
        let (_, diagnostics) = Self.load("principal = jwt:sub\njwt_keys = https://id.test/keys\n\(keys)")
        #expect(diagnostics.contains { $0.severity == .warning } == warns, "\(diagnostics)")
    }

    @Test func `files of keys are relative to the configuration`() throws {
        let (configuration, _) = Self.load(
            "principal = jwt:sub\njwt_keys = keys.pem\njwt_ca_file = ca.pem",
            "[gateway]\ntls_certificate = tls.pem\ntls_key = /etc/tls.key")
        let loaded = try #require(configuration)
        #expect(
            loaded.identity.jwtKeys == .file(path: "config/keys.pem") && loaded.identity.jwtCAFile == "config/ca.pem")
        #expect(loaded.gateway.tlsCertificate == "config/tls.pem" && loaded.gateway.tlsKey == "/etc/tls.key")
    }
}
