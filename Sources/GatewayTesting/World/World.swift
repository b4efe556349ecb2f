// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import HTTPTypes
import JSONBytes
import MemoryState
import NIOConcurrencyHelpers
import StateStore
import SyncModel
import WatermelonWire

/// Runs real gateways between a model of the backend and models of its clients, on one thread and in virtual time.
///
/// Everything of ``SyncGateway`` runs: runners, locks, caches, journal, ids, quarantine. What stands in is outside of
/// its ports: the backend speaks HTTP in memory, the state is the reference store, spools overflow into memory, the
/// clock passes when nobody can do anything else. Which job runs next is drawn from the seed, so a seed gives the same
/// course wherever hashing is deterministic (`SWIFT_DETERMINISTIC_HASHING=1`).
package final class World: SimulatedWorld {
    /// A gateway that runs.
    struct Running {
        var gateway: SyncGateway
        var life: GatewayLife
    }

    /// One request of a device that is under way.
    struct Request {
        var sync: WorldSync
        var gateway: Int
        /// What the device sends.
        var pushed: [(key: SimulatedKey, local: SimulatedDevice.Local)] = []
        var presented: Cursor?
        var answer = NIOLockedValueBox<[UInt8]>([])
        var isPull: Bool
        /// The backend's count when it began.
        var began: Int
    }

    let setup: Simulation.Setup
    /// The backend, the devices, and what people do with them.
    package let people: Simulation
    var store: MemoryStateStore
    private let backend: WorldBackend
    let executor: SeededExecutor
    let time: VirtualTime
    var gateways: [Running] = []
    var requests: [Request] = []
    var savedStore: MemoryStateStore?
    var syncCount = 0
    var mapping = 0
    var handedOut: Set<Int64> = []
    /// The rules that were broken.
    package private(set) var complaints: [String] = []
    /// What happened, where ``isTracing``.
    package private(set) var trace: [String] = []
    /// How often each thing happened, so that a campaign can show that it tries them all.
    package private(set) var counts: [String: Int] = [:]
    private let isTracing: Bool
    let log = CapturedLog()
    private let disk = WorldDisk()

    /// A world with as many gateways on one state as `gateways` says.
    package init(_ setup: Simulation.Setup, seed: UInt64, gateways: Int = 1, isTracing: Bool = false) throws {
        self.setup = setup
        self.isTracing = isTracing
        people = Simulation(setup, isTracing: isTracing)
        backend = WorldBackend(people)
        executor = SeededExecutor(seed: seed)
        time = VirtualTime(now: people.now)
        store = MemoryStateStore()
        for _ in 0..<gateways { self.gateways.append(try start()) }
    }

    private static var tuning: GatewayTuning {
        var tuning = GatewayTuning()
        (tuning.chunkBytes, tuning.deltas, tuning.undos) = (160, Simulation.compactAfter, Simulation.maximumUndos)
        (tuning.runEntries, tuning.cachedBytes) = (5, 1)
        return tuning
    }

    /// How many jobs have run.
    package var steps: Int { executor.steps }

    /// Starts a gateway on the state.
    ///
    /// Two on one state know nothing of each other: leases will be taken where each of them reaches the store.
    func start() throws -> Running {
        let life = GatewayLife()
        let files = WorldFiles(life: life, disk: disk)
        let clock = WorldClock(time: time, life: life)
        let configuration = try WorldConfiguration.load(setup, mapping: mapping)
        let gateway = SyncGateway(
            configuration: configuration,
            store: store.shared { [disk] moment in
                await Task.yield()
                try life.check()
                switch moment {
                case .beforeReading: break
                case .beforeWriting:
                    if WorldSync.current?.take(.lostRequest) == true { throw StateError.busy }
                    if disk.isFull(for: .state) { throw StateError.full }
                case .afterWriting:
                    if WorldSync.current?.take(.lostAnswer) == true { throw StateError.io("the answer was lost") }
                }
            },
            backend: BackendClient(
                settings: configuration.backendSettings, transport: WorldTransport(backend: backend, life: life),
                clock: clock, logger: log.logger("backend")),
            ports: GatewayPorts(
                files: files, clock: clock, random: Randomness { [executor] in executor.draw() }),
            tuning: Self.tuning)
        return Running(gateway: gateway, life: life)
    }

    /// Fills the disk of the state or of the spools, or makes room on both.
    func fill(_ use: WorldDisk.Use?) {
        disk.fill(use)
        if let use { count("\(use) disk full") }
    }

    /// Counts what the gateways have logged, and complains of what should never be.
    func countLog() {
        for line in log.lines {
            count("log: \(line.message)")
            if line.metadata["code"]?.hasPrefix("internal") == true { complain("logged: \(line)") }
        }
        log.clear()
    }

    func complain(_ sentence: String) {
        complaints.append(sentence)
        note("!! \(sentence)")
    }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    func note(_ text: @autoclosure () -> String) {
        if isTracing { trace.append("\(time.now % 100_000_000_000) \(text())") }
    }
}
