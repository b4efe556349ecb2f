// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Testing

@testable import Gateway

@Suite struct LockTableTests {
    @Test func `one holder at a time, first come, first served`() async throws {
        let locks = LockTable(maximumWaiting: 100, timeout: .seconds(600), clock: SystemClock())
        let inside = NIOLockedValueBox((now: 0, most: 0, total: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await locks.withLock("a") {
                        inside.withLockedValue {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                            $0.total += 1
                        }
                        await Task.yield()
                        inside.withLockedValue { $0.now -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.withLockedValue { $0.most } == 1)
        #expect(inside.withLockedValue { $0.total } == 50)
        #expect(locks.occupancy == (held: 0, waiting: 0))
    }

    @Test func `a full queue is refused at once`() async throws {
        let locks = LockTable(maximumWaiting: 0, timeout: .seconds(600), clock: SystemClock())
        try await locks.withLock("a") {
            await #expect(throws: LockError.queueFull) { try await locks.withLock("a") {} }
            try await locks.withLock("b") {}
        }
    }

    @Test func `whoever waits too long is sent away and leaves the lock to others`() async throws {
        let locks = LockTable(maximumWaiting: 5, timeout: .milliseconds(20), clock: SystemClock())
        try await locks.withLock("a") {
            _ = await #expect(throws: LockError.timedOut) { try await locks.withLock("a") {} }
        }
        try await locks.withLock("a") {}
        #expect(locks.occupancy == (held: 0, waiting: 0))
    }

    @Test func `a cancelled waiter leaves the queue`() async throws {
        let locks = LockTable(maximumWaiting: 5, timeout: .seconds(30), clock: SystemClock())
        try await locks.withLock("a") {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await #expect(throws: CancellationError.self) { try await locks.withLock("a") {} } }
                while locks.occupancy.waiting == 0 { await Task.yield() }
                group.cancelAll()
            }
            #expect(locks.occupancy == (held: 1, waiting: 0))
        }
        #expect(locks.occupancy == (held: 0, waiting: 0))
    }
}
