// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import StateStore
import SyncModel
import Telemetry
import Testing

@testable import GatewayServer

@Suite struct StatusPageTextTests {
    @Test func `whatever a value holds, it is never markup`() {
        let evil = "\"><script>alert('1')</script>&\u{202E}\n"
        var facts = StatusFacts(now: 1_800_000_000_000)
        facts.service.backend = evil
        facts.service.stateFailure = GatewayError(status: 503, code: evil, message: evil)
        facts.service.stuck = [
            DeviceTrouble(
                replica: ReplicaID(rawValue: 1), principal: Principal(rawValue: evil), kind: .push, count: 7, since: 0,
                lastAt: 0, code: evil)
        ]
        facts.origin = ConfigurationOrigin(version: evil, file: evil, digest: evil, since: 0, startedAt: 0)
        var recent = RecentSyncs()
        recent.add(
            RecentSyncs.Sync(endedAt: 0, milliseconds: 1, kind: "", replica: nil, principal: "", code: evil),
            isSuccess: false)
        facts.failures = recent.failures
        facts.conflicts = [(evil, 3)]
        facts.slowest = [
            RecentSyncs.Sync(endedAt: 0, milliseconds: 1, kind: evil, replica: evil, principal: evil, code: evil)
        ]
        let text = StatusPage(facts).text
        #expect(text.contains("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;\u{FFFD}\u{FFFD}"))
        #expect(!text.contains("<script") && !text.contains("\u{202E}") && !text.contains("\"\">"))
        #expect(text.contains("7 pushes in a row failed"))
    }

    @Test(
        arguments: [
            (0, "1970-01-01 00:00:00 UTC"), (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_800_000_000_000, "2027-01-15 08:00:00 UTC"), (4_102_444_799_999, "2099-12-31 23:59:59 UTC"),
        ] as [(Int64, String)])
    func `moments are dates of the calendar`(milliseconds: Int64, text: String) {
        #expect(StatusPage.utc(Instant(milliseconds: milliseconds)) == text)
    }

    @Test func `a gateway that has served nothing has a whole page`() {
        let text = StatusPage(StatusFacts(now: 1_800_000_000_000)).text
        #expect(text.contains("</html>") && text.contains("serving") && text.contains("no devices yet"))
    }
}
