// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend

/// Holds whoever comes until the test opens it.
actor Latch {
    private(set) var isOpen = false
    private(set) var arrivals = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits until the latch is open.
    func pass() async {
        arrivals += 1
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Lets everybody through from now on.
    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

extension DemoBackend {
    /// Holds every stream before its first line until the latch is opened.
    func holdStreams(with latch: Latch) {
        streamHook = { point in
            if point == StreamPoint(request: "ProjectsV2", part: .deletes) { await latch.pass() }
        }
    }
}

/// Looks again and again until something is so; a test that waits in vain fails by its time limit.
func eventually(_ isTrue: () async throws -> Bool) async throws {
    while try await !isTrue() { try await Task.sleep(for: .milliseconds(10)) }
}
