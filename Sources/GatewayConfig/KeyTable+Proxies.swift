// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    /// The keys of `[gateway]` for what stands between clients and the gateway, and for its end.
    static let proxies: [Key] = [
        .setting(
            "gateway", "trusted_proxies", at: \.gateway.trustedProxies,
            as: ValueFormat<AddressRange>.addressRange.list(),
            summary: "The addresses of proxies that say who a client is, as addresses or ranges such as `10.0.0.0/8`.",
            about: """
                From them `X-Forwarded-For`, `-Proto` and `-Host` are believed, or `Forwarded` where none of these is there; \
                from others they are dropped. The client is the last address in the list that is not itself a trusted proxy. \
                A proxy at a Unix socket is always trusted. Each must set or replace these fields in every request. Empty: \
                nobody is believed.
                """),
        .setting(
            "gateway", "proxy_protocol", at: \.gateway.proxyProtocol, as: .boolean, restart: true,
            summary: "Whether each connection begins with a header of the PROXY protocol, version 1 or 2.",
            about: """
                For proxies that pass on connections, not requests. The address in the header is the client's. Connections \
                from others than `trusted_proxies`, and those without the header, are closed. `[admin] listen` has none.
                """),
        .setting(
            "gateway", "shutdown_delay", at: \.gateway.shutdownDelay, as: .duration(.zero ... .seconds(600)),
            restart: true,
            summary: "How long the gateway goes on as before after SIGTERM, but for `/readyz`, which says 503.",
            about: """
                As long as a load balancer takes to notice. Connections are closed with their next answer meanwhile. Then \
                nothing new is accepted, and `shutdown_grace` begins. A second signal ends the delay, and everything else.
                """),
    ]
    /// The keys of `[gateway]` for TLS to clients.
    static let tls: [Key] = [
        .setting(
            "gateway", "tls_certificate", at: \.gateway.tlsCertificate, as: ValueFormat<String>.text("path").optional,
            summary: "The certificate that clients see, with its chain, in PEM. Empty: clients speak plain HTTP.",
            about: """
                With it `listen` speaks TLS 1.2 and 1.3 alone, and HTTP/1.1 within. A relative path is relative to this \
                file. It is read again with each reload: new connections get the new one, open ones go on. `[admin] listen` \
                stays plain.
                """),
        .setting(
            "gateway", "tls_key", at: \.gateway.tlsKey, as: ValueFormat<String>.text("path").optional,
            summary: "The private key of that certificate, in PEM and without a passphrase.",
            about: "Empty: it is in the certificate's file."),
    ]
}
