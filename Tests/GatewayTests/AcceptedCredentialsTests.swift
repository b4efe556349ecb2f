// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import Gateway

@Suite struct AcceptedCredentialsTests {
    private static let (ada, bob) = (Principal(rawValue: "ada"), Principal(rawValue: "bob"))

    @Test func `that a credential is accepted is renewed, and who sends it is not`() {
        let known = AcceptedCredentials(lifetime: 60)
        known.accept("c", as: Self.ada, at: 0)
        for now: Instant in [40, 80, 120, 160, 200] {
            known.accept("c", at: now)
            #expect(known.isAccepted("c", at: now + 60) && !known.isAccepted("c", at: now + 61))
        }
        #expect(known.principal(of: "c", at: 60) == Self.ada)
        #expect(known.principal(of: "c", at: 61) == nil)
        known.accept("c", as: Self.bob, at: 210)
        #expect(known.principal(of: "c", at: 270) == Self.bob)
    }

    @Test func `what was noted before the clock went back counts for nothing`() {
        let known = AcceptedCredentials(lifetime: 60)
        known.accept("c", as: Self.ada, at: 100)
        #expect(!known.isAccepted("c", at: 99) && known.principal(of: "c", at: 99) == nil)
        #expect(!known.isAccepted("d", at: 100) && known.principal(of: "d", at: 100) == nil)
    }

    @Test func `there is a limit, and what is over it is asked for again`() {
        let known = AcceptedCredentials(lifetime: 60)
        for number in 0...AcceptedCredentials.maximum { known.accept("\(number)", at: 0) }
        #expect(known.isAccepted("\(AcceptedCredentials.maximum)", at: 0) && !known.isAccepted("0", at: 0))
    }
}
