// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    static let admin: [Key] = [
        .setting(
            "admin", "listen", at: \.admin.listen, as: ValueFormat<ListenAddress>.address.optional,
            restart: true, summary: "Where `/livez`, `/readyz`, `/metrics` and `/status` answer apart from clients.",
            about: "The first two answer on `[gateway] listen` too. Empty: only they do, and only there."),
        .setting(
            "admin", "stuck_repeats", at: \.admin.stuckRepeats, as: .integer(0...1_000, zero: "never"),
            summary:
                "How often a device comes with the same cursor, or again without one, until it counts as stuck.",
            about: """
                At most once a minute is counted. The log says so, `rind replicas stuck` lists it with what to do, and \
                `rind_stuck_devices` counts it.
                """),
        .setting(
            "admin", "stuck_pushes", at: \.admin.stuckPushes, as: .integer(0...1_000, zero: "never"),
            summary: "How many pushes of a device fail in a row, one a minute, until it counts as stuck."),
        .setting(
            "admin", "stuck_after", at: \.admin.stuckAfter,
            as: .duration(.seconds(60) ... .seconds(365 * 86_400), zero: "never"),
            summary: "How long a device's pulls or its pushes fail, whatever the reason, until it counts as stuck."),
    ]
}
