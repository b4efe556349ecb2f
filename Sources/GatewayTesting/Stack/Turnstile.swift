// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Lets a few in at a time.
///
/// Every stack has threads, connections and files of its own. A suite starts hundreds of tests at once, which would
/// exhaust descriptors and make each of them slow.
actor Turnstile {
    /// The turnstile of all stacks of the process, which share the machine.
    static let stacks = Turnstile(permits: 4)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(permits: Int) { free = permits }

    func enter() async {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
