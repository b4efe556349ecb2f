// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import StateStore
import Testing

/// A flood against a gateway's process, and what genuine devices see of it.
struct Flood {
    /// What a genuine sync came to.
    struct Sync: Sendable {
        var device: String
        var tries: Int
        var time: Duration
        var problem: String?
    }

    /// How long a sync may take altogether, its tries and the pauses between them included.
    static let patience = Duration.seconds(60)

    let gateway: GatewayProcess
    let backend: DemoBackend
    let directory: String
    private(set) var syncs: [Sync] = []
    private(set) var peakMemory = 0
    private(set) var memoryAfter = 0
    private(set) var peakDescriptors = 0
    /// Bytes of the state's pages in use before, and after.
    private(set) var stateSize = (before: 0, after: 0)
    /// Bytes of the write-ahead log's file afterwards, which does not say how much is in the state.
    private(set) var logSize = 0
    private(set) var principals = (before: 0, after: 0)
    private(set) var clients = ""

    init(gateway: GatewayProcess, backend: DemoBackend, directory: String) {
        self.gateway = gateway
        self.backend = backend
        self.directory = directory
    }

    /// Lets genuine devices sync once in peace, then lets the clients loose beside them.
    mutating func run(_ behaviours: [FloodBehaviour], for duration: Duration) async throws {
        var devices = [("ada-token", "ada"), ("device-a", "ada"), ("bob-token", "bob"), ("device-b2", "bob")]
            .enumerated()
            .map { number, names in
                FloodDevice(
                    device: StackDevice(
                        model: ClientModel(schema: .quickstart, version: 3, seed: UInt64(number) + 5), token: names.0,
                        shape: .docs, http: gateway.http),
                    user: "\(names.1)@example.com")
            }
        for place in devices.indices { syncs.append(await devices[place].sync(with: backend, round: 0)) }
        (stateSize.before, principals.before) = try Self.state(in: directory)

        let flood = FloodClients(port: gateway.port)
        for behaviour in behaviours { flood.start(behaviour) }
        let end = ContinuousClock.now + duration
        let (backend, watch) = (backend, GatewayWatch(gateway))
        let peak = NIOLockedValueBox((memory: 0, descriptors: 0))
        syncs += try await withThrowingTaskGroup(of: [Sync].self) { group in
            for device in devices {
                group.addTask {
                    var device = device
                    var syncs: [Sync] = []
                    var round = 0
                    while ContinuousClock.now < end {
                        round += 1
                        syncs.append(await device.sync(with: backend, round: round))
                        try await Task.sleep(for: .seconds(2))
                    }
                    return syncs
                }
            }
            group.addTask {
                while ContinuousClock.now < end, watch.gateway.isRunning {
                    peak.withLockedValue { peak in
                        peak.memory = max(peak.memory, watch.memory ?? 0)
                        peak.descriptors = max(peak.descriptors, watch.descriptors ?? 0)
                    }
                    try await Task.sleep(for: .milliseconds(200))
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        (peakMemory, peakDescriptors) = peak.withLockedValue { ($0.memory, $0.descriptors) }
        clients = flood.summary
        try await flood.stop()
        // Connections end, and memory is given back.
        try await Task.sleep(for: .seconds(15))
        memoryAfter = watch.memory ?? 0
        (stateSize.after, principals.after) = try Self.state(in: directory)
        logSize = Self.logSize(in: directory)
        #expect(gateway.isRunning, "\(gateway.log.suffix(4_000))")
        #expect(try watch.defects().prefix(3).map(\.self) == [])
    }

    private static func state(in directory: String) throws -> (size: Int, principals: Int) {
        let path = "\(directory)/state.db"
        let principals = try StateDump(path: path, kinds: [.principal]).principals.count
        return (try StateDump.size(path: path), principals)
    }

    private static func logSize(in directory: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/state.db-wal")
        return (attributes?[.size] as? Int) ?? 0
    }
}

extension Flood {
    /// The figures.
    var report: String {
        let times = syncs.map(\.time).sorted()
        let failed = syncs.filter { $0.problem != nil }
        let middle = times.isEmpty ? .zero : times[times.count / 2]
        return """
            \(syncs.count) genuine syncs, \(failed.count) failed; median \(middle.formatted), longest \
            \((times.last ?? .zero).formatted), at most \(syncs.map(\.tries).max() ?? 0) tries; memory at most \
            \(peakMemory >> 20) MiB, \(memoryAfter >> 20) MiB afterwards; at most \(peakDescriptors) descriptors; state \
            \(stateSize.before >> 10) → \(stateSize.after >> 10) KiB, its log \
            \(logSize >> 10) KiB, principals \(principals.before) → \(principals.after)
              clients: \(clients)
            """
    }

    /// Every genuine sync comes through, and leaves its device equal to the backend.
    func judgeSyncs() {
        for sync in syncs {
            let facts = "\(sync.device), \(sync.tries) tries, \(sync.time.formatted)"
            if let problem = sync.problem { Issue.record("\(facts): \(problem.prefix(600))") }
            // The last try may begin shortly before the user's patience ends.
            #expect(sync.time <= Self.patience * 2, "\(facts)")
        }
        #expect(syncs.count >= 4 + 4 * 2, "only \(syncs.count) syncs came to an end")
    }

    /// What docs/ARCHITECTURE.md sums up under "Memory", with the default configuration and rows as few as these.
    func judgeMemory() {
        let spools = 512 << 20
        let pushes = 512 << 20
        let pulls = 64 * (8 << 20)
        let connections = 3_000 * (100 << 10)
        let bound = spools + pushes + pulls + connections
        #expect(peakMemory <= bound, "\(peakMemory >> 20) MiB, where \(bound >> 20) are allowed")
    }

    /// Nobody is noted whom the backend does not know, and what is written is what users have synced.
    ///
    /// - Parameters:
    ///   - newcomers: How many users there are besides those of the genuine devices.
    ///   - growth: What their ledgers may take, in bytes.
    func judgeState(newcomers: Int, growth: Int) {
        let met = principals.after - principals.before
        #expect(met <= newcomers, "\(met) new principals, where \(newcomers) are known to the backend")
        let grown = stateSize.after - stateSize.before
        #expect(grown <= growth, "the state grew by \(grown >> 10) KiB, where \(growth >> 10) are allowed")
        // docs/STATE.md: it is moved into the state when it has 32 MB, and cut to 64 where a commit made it larger.
        #expect(logSize <= 64 << 20, "the state's log has \(logSize >> 10) KiB")
    }
}

extension Duration {
    /// In seconds, with a tenth.
    var formatted: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
