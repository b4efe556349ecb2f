// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A thread whose end a task can await without blocking its own thread; for C libraries that wait or block.
package final class DedicatedThread: Sendable {
    private struct State {
        var handle: pthread_t?
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = NIOLockedValueBox(State())

    private init() {}

    /// Starts `body` on a new thread; returns nil if the system has none left.
    package static func start(_ body: @escaping @Sendable () -> Void) -> DedicatedThread? {
        let thread = DedicatedThread()
        let start = Unmanaged.passRetained(
            Start {
                body()
                thread.ended()
            })
        var handle = pthread_t()
        guard pthread_create(&handle, nil, runThread, start.toOpaque()) == 0 else {
            start.release()
            return nil
        }
        // The handle cannot be asked for before this function returns.
        thread.state.withLockedValue { [handle] in $0.handle = handle }
        return thread
    }

    /// Returns when the thread has ended.
    package func join() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLockedValue { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        // The body has returned, so this waits for a few instructions only; the first waiter does it.
        if let handle = state.withLockedValue({ $0.handle.take() }) { pthread_join(handle, nil) }
    }

    /// Lets the thread clean up after itself; it cannot be joined afterwards.
    package func detach() {
        if let handle = state.withLockedValue({ $0.handle.take() }) { pthread_detach(handle) }
    }

    private func ended() {
        let waiters = state.withLockedValue { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// The work of a new thread.
private final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body() }
    return nil
}
