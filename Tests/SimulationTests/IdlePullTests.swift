// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncMachines
import Testing

/// Most pulls in production bring nothing: what they may cost outside of the gateway.
@Suite struct IdlePullTests {
    @Test(arguments: [false, true])
    func `a pull that brings nothing writes nothing and calls the backend once`(
        ownSessions: Bool
    ) async throws {
        let world = try await FindingScheduleTests.quiesced(ownSessions: ownSessions)
        // The device's last cursor comes back, and with it the last thing that is written.
        for _ in 0..<2 { _ = try await world.sync(0) }
        let pull = world.beginPull(0)
        await world.run(pull)
        #expect(pull.failure == nil)
        // The context, and at the end the receipts.
        let outside = pull.reached.filter { $0 != .line }
        #expect(outside == [.reading, .open, .reading])
    }
}
