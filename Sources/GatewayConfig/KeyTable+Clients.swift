// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension KeyTable {
    /// The keys of `[limits]` for how often clients may ask.
    static let rates: [Key] = [
        .setting(
            "limits", "client_rate", at: \.limits.clientRate, as: .integer(0...1_000_000, zero: "no limit"),
            summary: "How many requests a minute one client's address may send.",
            about: """
                Of syncs and of what passes through; probes are not counted. What comes beyond is answered 429 and \
                Retry-After. Of an IPv6 address the first 64 bits count. Behind proxies set `[gateway] trusted_proxies`, or \
                all their clients count as one; many phones may share the address of their network.
                """),
        .setting(
            "limits", "client_burst", at: \.limits.clientBurst, as: .integer(1...1_000_000),
            summary: "How many of them may come at once, after a pause."),
        .setting(
            "limits", "principal_rate", at: \.limits.principalRate, as: .integer(0...1_000_000, zero: "no limit"),
            summary: "How many pulls and pushes a minute one user may send, from all their devices.",
            about: "What comes beyond is answered 429 and Retry-After. A sync is one pull and mostly one push."),
        .setting(
            "limits", "principal_burst", at: \.limits.principalBurst, as: .integer(1...1_000_000),
            summary: "How many of them may come at once, after a pause."),
    ]

    /// The keys of `[limits]` for the number and the speed of clients.
    static let limitsOfClients: [Key] = [
        .setting(
            "limits", "connections", at: \.limits.connections, as: .integer(16...1_000_000),
            restart: true, summary: "How many connections of clients there may be.",
            about: """
                What comes beyond that is answered 503 and closed. Each takes a descriptor, and another one while its answer \
                is in a file; where the system allows fewer, fewer are served, and `rind check` and the start say so.
                """),
        .setting(
            "limits", "tunnels", at: \.limits.tunnels,
            as: ValueFormat<Int>.integer(0...9_998, zero: "none").optional, restart: true,
            summary: "How many tunnels there may be: WebSockets, and what else a client and the backend agree on.",
            about: """
                Each takes a connection of a client and one of `[backend] pass_through_connections`, of which there must be \
                more; requests and uploads share the rest. At most half of `connections`. Empty: half of the \
                pass-through's connections. What comes beyond that is answered 503 and Retry-After. With 0 no `Upgrade` \
                passes: such requests go to the backend without it.
                """),
        .setting(
            "limits", "tunnels_per_client", at: \.limits.tunnelsPerClient,
            as: ValueFormat<Int>.integer(1...9_998).optional,
            summary: "How many of them one client's address may have.",
            about: """
                Empty: half of them. Of an IPv6 address the first 64 bits count. Behind proxies set `[gateway] \
                trusted_proxies`, or all their clients count as one; many phones may share the address of their network. What \
                comes beyond that is answered 503 and Retry-After.
                """),
        .setting(
            "limits", "tunnel_idle", at: \.limits.tunnelIdle, as: .duration(.milliseconds(10) ... .seconds(86_400)),
            summary: "How long a tunnel may carry no byte in either direction before it is closed.",
            about: """
                A client that has gone without a word holds its place for as long. Most apps and servers ping every 20 to 60 \
                seconds, some every few minutes; raise it for an app that never does, if networks on the way keep such \
                connections at all.
                """),
        .setting(
            "limits", "body_timeout", at: \.limits.bodyTimeout, as: .duration(.milliseconds(10) ... .seconds(3600)),
            restart: true, summary: "How long a client may send nothing of a body that is wanted."),
        .setting(
            "limits", "body_rate", at: \.limits.bodyRate, as: .integer(0...1_000_000_000, zero: "no rate"),
            restart: true, summary: "The least rate at which bodies come, in bytes a second.",
            about: """
                Of sync requests and of what passes through. What counts is the time in which the gateway waits for the \
                client: a body may keep it waiting for `body_timeout`, and for a second more with each so many bytes. A \
                slower one is answered 408.
                """),
        .setting(
            "limits", "body_time", at: \.limits.bodyTime, as: .duration(.milliseconds(10) ... .seconds(86_400)),
            summary: "How long the body of a sync request may take, and a second more for each 2 KiB that have come.",
            about: "A slower one is answered 408. What passes through has no such limit."),
        .setting(
            "limits", "linger", at: \.limits.linger, as: .duration(.milliseconds(10) ... .seconds(600)),
            restart: true,
            summary: "For how long a client that still sends is read on after its connection's last answer.",
            about: """
                What comes is thrown away: many clients read an answer such as 413 only once all of their body is sent, and \
                would lose it with the connection. It ends after 2 seconds in which nothing comes.
                """),
        .setting(
            "limits", "keep_alive", at: \.limits.keepAlive, as: .duration(.milliseconds(10) ... .seconds(3600)),
            restart: true, summary: "How long a client's connection may wait for its next request.",
            about: """
                A proxy or balancer in front must close its idle connections first, or some requests meet one that is being \
                closed: set this longer than its own time (60 s with AWS, 600 s with Google Cloud).
                """),
        .setting(
            "limits", "send_timeout", at: \.limits.sendTimeout, as: .duration(.milliseconds(10) ... .seconds(3600)),
            restart: true, summary: "How long a client may take nothing of its answer.",
            about: """
                A client whose system acknowledges anything within this time is never cut. A system with large buffers \
                acknowledges in steps of up to half a mebibyte, so a steady reader of less than 2 KiB/s may seem to take \
                nothing for the default's five minutes: a longer time lets it finish.
                """),
        .setting(
            "limits", "send_rate", at: \.limits.sendRate, as: .integer(0...1_000_000_000, zero: "no rate"),
            restart: true, summary: "The least rate at which a client takes its answer, in bytes a second.",
            about: """
                Measured over `send_timeout`, while an answer waits for its client. Whoever is slower is cut. Off, because the \
                first sync over a bad network is what must not be cut.
                """),
    ]
}
