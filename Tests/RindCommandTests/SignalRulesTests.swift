// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing
import UnixSignals

@testable import rind

@Suite struct SignalRulesTests {
    /// A signal, what came before it, and what it means then.
    static let table: [(before: [UnixSignal], signal: UnixSignal, action: SignalRules.Action)] = [
        ([], .sighup, .reload),
        ([.sighup], .sighup, .reload),
        ([.sigusr1], .sighup, .reload),
        ([], .sigterm, .drain),
        ([], .sigint, .drain),
        ([], .sigquit, .stop),
        ([.sighup], .sigterm, .drain),
        ([.sigterm], .sighup, .ignore),
        ([.sigterm], .sigterm, .stop),
        ([.sigterm], .sigint, .stop),
        ([.sigint], .sigterm, .stop),
        ([.sigint, .sighup], .sigint, .stop),
        ([.sigterm], .sigquit, .stop),
        ([.sigquit], .sigterm, .none),
        ([.sigquit], .sighup, .ignore),
        ([.sigterm, .sigterm], .sigint, .none),
        ([.sigterm, .sigterm], .sigquit, .none),
        ([], .sigusr1, .log(debug: true)),
        ([.sigterm], .sigusr2, .log(debug: false)),
        ([], .sigalrm, .none),
    ]

    @Test(arguments: table)
    func `a signal means what those before it leave to do`(
        before: [UnixSignal], signal: UnixSignal, action: SignalRules.Action
    ) {
        var rules = SignalRules()
        for signal in before { _ = rules.receive(signal) }
        #expect(rules.receive(signal) == action)
    }
}
