// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Keeps the lease of one sync, and knows until when it is certainly held.
final class LeaseKeeper: Sendable {
    /// The keeper of the sync that the current task runs; nil if the state needs no leases, or the sync none.
    @TaskLocal static var current: LeaseKeeper?

    private enum Phase { case held, givingBack, givenBack, lost }

    private struct State {
        var phase = Phase.held
        /// The uptime at which the last take or renewal was asked for.
        var renewedAt: Int64
    }

    let lease: Lease
    /// True if calls of an earlier holder may still arrive at the backend, so that its position cannot be relied on.
    let distrustsPosition: Bool
    private let store: Accounts
    private let clock: any WallClock
    private let lifetime: Int64
    private let state: NIOLockedValueBox<State>

    init(
        _ lease: Lease, takenAt: Int64, distrustsPosition: Bool, lifetime: Int64, store: Accounts,
        clock: any WallClock
    ) {
        self.lease = lease
        self.distrustsPosition = distrustsPosition
        self.lifetime = lifetime
        self.store = store
        self.clock = clock
        state = NIOLockedValueBox(State(renewedAt: takenAt))
    }

    /// True if the lease has not been given back with a write.
    var isHeld: Bool { state.withLockedValue { $0.phase == .held } }
    /// True if the lease has passed to another gateway.
    var isLost: Bool { state.withLockedValue { $0.phase == .lost } }

    /// Notes that a write has found the lease with another gateway.
    func lose() { _ = move(from: .held, to: .lost) }

    /// Makes sure that no other gateway has the lease, before a call that changes something at the backend.
    ///
    /// The first half of its life passes without a question to the state. After a pause of the process it is asked, so
    /// that no call goes out once the lease has passed on.
    ///
    /// - Throws: ``StateError/leaseLost``, or the state's other errors.
    static func assure() async throws {
        guard let keeper = current else { return }
        while true {
            let (phase, renewedAt) = keeper.state.withLockedValue { ($0.phase, $0.renewedAt) }
            guard phase == .held else { throw StateError.leaseLost }
            // Looked at again after a renewal, since the process may have been paused during it.
            if keeper.clock.uptime - renewedAt < keeper.lifetime / 2 { return }
            try await keeper.renew()
        }
    }

    /// Runs the last write of the current sync, which gives the lease back in its own transaction.
    static func givingBack<R>(_ write: () async throws -> R) async throws -> R {
        guard let keeper = current, keeper.move(from: .held, to: .givingBack) else { return try await write() }
        do {
            var lease = keeper.lease
            lease.isGivenBack = true
            let result = try await Lease.$current.withValue(lease) { try await write() }
            _ = keeper.move(from: .givingBack, to: .givenBack)
            return result
        } catch {
            _ = keeper.move(from: .givingBack, to: .held)
            throw error
        }
    }

    /// Renews the lease whenever a third of its life has passed, until it ends or the task is cancelled.
    func keep() async {
        while true {
            do { try await clock.wait(milliseconds: max(lifetime / 3, 1)) } catch { return }
            do {
                try await renew()
            } catch StateError.leaseLost {
                return
            } catch {
                // The state is away: the next attempt, or the sync's own writes, find out what has become of the lease.
                if Task.isCancelled { return }
            }
        }
    }

    private func renew() async throws {
        let now = clock.uptime
        do {
            try await store.renew(lease, for: lifetime, at: clock.now)
            state.withLockedValue { $0.renewedAt = max($0.renewedAt, now) }
        } catch StateError.leaseLost {
            // While it is given back, a renewal finds it free.
            lose()
            throw StateError.leaseLost
        }
    }

    private func move(from old: Phase, to new: Phase) -> Bool {
        state.withLockedValue { state in
            guard state.phase == old else { return false }
            state.phase = new
            return true
        }
    }
}
