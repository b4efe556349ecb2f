// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import GatewayServer

@Suite(.timeLimit(.minutes(1))) struct PatienceTimerTests {
    @Test func `waits end when their time has come, also those that begin when none was left`() async throws {
        let timer = PatienceTimer(step: .milliseconds(1))
        for _ in 0..<3 {
            let begun = NIODeadline.now()
            async let first: Void = timer.wait(.milliseconds(5))
            async let second: Void = timer.wait(.milliseconds(10))
            _ = try await (first, second)
            #expect(NIODeadline.now() - begun >= .milliseconds(10))
        }
    }

    @Test func `a wait ends with its task, however long it is`() async {
        let timer = PatienceTimer(step: .hours(1))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do { try await timer.wait(.hours(1)) } catch { return true }
                    return false
                }
            }
            group.cancelAll()
            for await isCancelled in group { #expect(isCancelled) }
        }
    }
}
