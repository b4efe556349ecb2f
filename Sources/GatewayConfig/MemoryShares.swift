// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The arithmetic of the memory that clients can make the gateway take (docs/PERFORMANCE.md, "Memory").
package enum MemoryNeed {
    /// The number of bytes of a pull while it runs, as a first sync takes them.
    static let pull = 16 << 20
    /// The most bytes of a connection's buffers.
    static let connection = 100 << 10
    /// The most bytes that a tunnel holds besides its connection, if neither side takes any.
    static let tunnel = 300 << 10
    /// The number of bytes of what is bounded without a key: unknown callers' bodies, handles, pages of the state.
    static let fixed = 64 << 20

    /// Returns the most bytes that are kept of the ids of backends, of the heads of principals, and of ledgers' chunks.
    package static func caches(_ configuration: Configuration) -> (ids: Int, heads: Int, chunks: Int) {
        let memory = configuration.limits.memory > 0 ? configuration.limits.memory : .max
        return (min(64 << 20, memory / 128), min(64 << 20, memory / 64), min(32 << 20, memory / 128))
    }

    /// Returns the number of bytes of all data of clients, if all limits are reached at a time.
    package static func bytes(_ configuration: Configuration) -> Int {
        let (limits, spool, caches) = (configuration.limits, configuration.spool, caches(configuration))
        return fixed + caches.ids + caches.heads + caches.chunks + limits.pulls * pull + limits.connections * connection
            + configuration.tunnelLimit * tunnel
            + spool.memoryTotal + limits.pushMemory
    }

    /// Returns the budget and what may be taken of it as a text; nil if there is no budget.
    package static func summary(_ configuration: Configuration) -> String? {
        let limits = configuration.limits
        guard limits.memory > 0 else { return nil }
        return "\(ByteSize.render(limits.memory)), \(bytes(configuration) >> 20)MiB of it for \(limits.pulls) pulls, "
            + "\(ByteSize.render(configuration.spool.memoryTotal)) of answers, "
            + "\(ByteSize.render(limits.pushMemory)) of pushes and \(limits.connections) connections"
    }

    /// Returns the part of the whole that is for data; the rest is for code, gaps in the heap and the page cache.
    static func data(of memory: Int) -> Int { memory / 3 * 2 }
}

/// Shares `[limits] memory` among the limits that are not set.
struct MemoryShares {
    private var configuration: Configuration
    private let isSet: (_ section: String, _ key: String) -> Bool

    /// Shares the budget, if there is one.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, whose limits are lowered.
    ///   - isSet: Returns true if the file or the environment sets a key of a section.
    /// - Returns: The message and the hint where the limits exceed the budget together; nil if they do not.
    static func share(
        _ configuration: inout Configuration, isSet: (_ section: String, _ key: String) -> Bool
    ) -> (message: String, hint: String)? {
        guard configuration.limits.memory > 0 else { return nil }
        return withoutActuallyEscaping(isSet) { isSet in
            var shares = MemoryShares(configuration: configuration, isSet: isSet)
            shares.share()
            configuration = shares.configuration
            return shares.excess
        }
    }

    /// Lowers the limits that are not set to their shares; a default is the most that one gets.
    private mutating func share() {
        let memory = configuration.limits.memory
        share("spool", "memory_total", at: \.spool.memoryTotal, bytes: memory / 8)
        share("spool", "memory", at: \.spool.memory, bytes: configuration.spool.memoryTotal / 8)
        share("limits", "push_memory", at: \.limits.pushMemory, bytes: memory / 8)
        share("limits", "inflated_body", at: \.limits.inflatedBody, bytes: configuration.limits.pushMemory / 8 * 3)
        share("limits", "body", at: \.limits.body, bytes: configuration.limits.inflatedBody / 3)
        share("limits", "answers_kept", at: \.limits.answersKept, bytes: configuration.spool.memoryTotal / 2)
        if !isSet("limits", "connections") {
            let share = memory / 20 / MemoryNeed.connection
            configuration.limits.connections = max(1, min(configuration.limits.connections, share))
        }
        let tunnels = memory / 50 / MemoryNeed.tunnel
        if !isSet("limits", "tunnels"), tunnels < configuration.tunnelLimit { configuration.limits.tunnels = tunnels }
        guard !isSet("limits", "pulls") else { return }
        let most = configuration.limits.pulls
        configuration.limits.pulls = 0
        let rest = MemoryNeed.data(of: memory) - MemoryNeed.bytes(configuration)
        configuration.limits.pulls = max(1, min(most, rest / MemoryNeed.pull))
    }

    /// The sum and its parts where the limits exceed the budget together.
    private var excess: (message: String, hint: String)? {
        let limits = configuration.limits
        let (need, room) = (MemoryNeed.bytes(configuration), MemoryNeed.data(of: limits.memory))
        guard need > room else { return nil }
        return (
            "the limits allow \(need >> 20)MiB of clients' data, and two thirds of the memory are \(room >> 20)MiB",
            "\(limits.pulls) pulls of \(MemoryNeed.pull >> 20) MiB, \(limits.connections) connections of 100 KiB, "
                + "\(configuration.tunnelLimit) tunnels of 300 KiB, "
                + "\(ByteSize.render(configuration.spool.memoryTotal)) of answers, "
                + "\(ByteSize.render(limits.pushMemory)) of pushes, caches, 64 MiB for the rest"
        )
    }

    private mutating func share(
        _ section: String, _ key: String, at path: WritableKeyPath<Configuration, Int>, bytes: Int
    ) {
        guard !isSet(section, key) else { return }
        configuration[keyPath: path] = min(configuration[keyPath: path], max(1, bytes >> 20) << 20)
    }
}
