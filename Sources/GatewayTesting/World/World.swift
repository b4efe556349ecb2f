// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import Gateway
import GatewayConfig
import MemoryState
import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Runs real gateways between a model of the backend and models of its clients, on one thread and in virtual time.
///
/// All of ``SyncGateway`` runs: runners, locks, caches, journal, ids, quarantine. The substitutes are outside of
/// its ports: the backend speaks HTTP in memory, the state is the reference store, spools overflow into memory, and
/// time passes when no job is ready. The next job is drawn from the seed, so a seed gives the same
/// course if hashing is deterministic (`SWIFT_DETERMINISTIC_HASHING=1`).
///
/// The operations come from a schedule of ``SimulationOp``: a test's own, or one that ``SimulationCampaign`` draws.
package final class World {
    /// A gateway that runs.
    struct Running {
        var gateway: SyncGateway
        var life: GatewayLife
        var store: Accounts
    }

    /// One request of a device that is under way.
    struct Request {
        var sync: WorldSync
        var session: Session
        var gateway: Int
        /// The changes that the device sends.
        var pushed: [(key: SimulatedKey, local: SimulatedDevice.Local)] = []
        var isPull: Bool
        /// The expectations at the beginning of the pull.
        var comparison = WorldComparison()
        /// True if the state has forgotten a replica since it began, perhaps the one that the answer is for.
        var isForgotten = false
    }

    let setup: WorldSetup
    /// The backend, the devices, and the changes on them.
    package let users: Users
    /// The bytes of the state, and the state as operators and the oracle see it.
    private(set) var bytes: MemoryBytes { didSet { store = state(of: bytes) } }
    private(set) lazy var store = state(of: bytes)
    private let backend: WorldBackend
    let executor: SeededExecutor
    let time: VirtualTime
    var gateways: [Running] = []
    var requests: [Request] = []
    var savedBytes: MemoryBytes?
    var syncCount = 0
    /// The number of the tables' configuration with which the gateways run.
    var mapping = 0
    var handedOut: Set<Int64> = []
    /// The gateway that requests go to; nil for any that does not stand still.
    package var chosenGateway: Int?
    /// The rules that were broken.
    package private(set) var complaints: [String] = []
    /// The number of times that each operation ran, so that a campaign can show that it tries them all.
    package private(set) var counts: [String: Int] = [:]
    let log = CapturedLog()
    private let disk = WorldDisk()
    private let hasSmallHeads: Bool

    private let witness: SimulationCampaign.Witness?

    /// Creates a world whose order of events follows from the seed.
    package init(
        _ setup: WorldSetup, seed: UInt64 = 0, isTracing: Bool = false, witness: SimulationCampaign.Witness? = nil
    ) throws {
        self.setup = setup
        self.witness = witness
        hasSmallHeads = seed % 2 == 1
        users = Users(setup, isTracing: isTracing)
        backend = WorldBackend(users)
        executor = SeededExecutor(seed: seed)
        time = VirtualTime(now: users.now)
        bytes = MemoryBytes(commitsInGroups: setup.commitsInGroups)
        if let witness { bytes = bytes.copy(for: witness(bytes)) }
        for _ in 0..<setup.gateways { gateways.append(try start()) }
    }

    /// The events so far, if they are traced.
    package var trace: [String] { users.trace }

    /// The number of jobs that have run.
    package var steps: Int { executor.steps }

    /// Returns the state that bytes are; several gateways need leases on theirs.
    private func state(of bytes: MemoryBytes) -> Accounts {
        let numbers = TimedNumbers { [executor] in executor.draw() }
        var limits = StateLimits()
        // Some worlds have so little room in heads that most cursors and chunks are elsewhere.
        if hasSmallHeads { (limits.headBytes, limits.headChunks) = (400, 2) }
        return Accounts(
            bytes, setting: AccountSetting(limits: limits, number: numbers.next),
            versions: VersionSource(process: UInt32(truncatingIfNeeded: executor.draw() >> 33)),
            leases: setup.gateways > 1 ? bytes : nil)
    }

    /// Puts an older state, or an empty one, in the place of the present one.
    func restore(_ older: MemoryBytes?) {
        let older = older ?? MemoryBytes(commitsInGroups: setup.commitsInGroups)
        bytes = older.copy(for: witness?(older))
    }

    /// Starts a gateway on the state.
    func start() throws -> Running {
        let life = GatewayLife()
        let files = WorldFiles(life: life, disk: disk)
        let clock = WorldClock(time: time, life: life)
        let configuration = try WorldConfiguration.load(setup, mapping: mapping)
        let store = state(of: bytes.shared(seesChanges: setup.gateways == 1, gate: gate(life)))
        let gateway = SyncGateway(
            configuration: configuration, store: store,
            backend: BackendClient(
                settings: configuration.backendSettings,
                transport: WorldTransport(
                    backend: backend, life: life, time: time, timeout: WorldConfiguration.callTimeout),
                clock: clock, logger: log.logger("backend")),
            ports: GatewayPorts(
                files: files, clock: clock, random: Randomness { [executor] in executor.draw() }),
            tuning: WorldConfiguration.tuning)
        return Running(gateway: gateway, life: life, store: store)
    }

    private func gate(_ life: GatewayLife) -> MemoryBytes.Gate {
        { [disk] moment in
            switch moment {
            case .beforeReading:
                await WorldSync.reach(.reading)
                await life.wait()
                try life.check()
            case .beforeWriting:
                await WorldSync.reach(.writing)
                await life.wait()
                try life.check()
                if WorldSync.current?.take(.lostRequest) == true { throw StateError.busy }
                if disk.isFull(for: .state) { throw StateError.full }
            case .afterWriting:
                await Task.yield()
                await life.wait()
                try life.check()
                if WorldSync.current?.take(.lostAnswer) == true { throw StateError.io("the answer was lost") }
            }
        }
    }

    /// Lets the gateways that run begin to store what was deferred; on a full disk it stays deferred.
    ///
    /// They do so beside their requests: where a request that is held commits for others, they wait for it.
    func storeDeferred() {
        for running in gateways where !running.life.isDead && !running.life.isPaused {
            Task(executorPreference: executor) { try? await running.store.storeDeferred() }
        }
    }

    /// Fills the disk of the state or of the spools, or makes room on both.
    func fill(_ use: WorldDisk.Use?) {
        disk.fill(use)
        if let use { count("\(use) disk full") }
    }

    func complain(_ sentence: String) {
        complaints.append(sentence)
        note("!! \(sentence)")
    }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    func note(_ text: @autoclosure () -> String) {
        users.now = time.now
        users.note(text())
    }
}
