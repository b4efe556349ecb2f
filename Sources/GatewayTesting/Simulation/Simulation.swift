// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncEngine
import SyncModel

/// A world in one process and in virtual time: the gateway's real machines and its real ledger between a model of the
/// backend and models of its clients.
///
/// Nothing here sleeps, reads a clock or draws a random number: a schedule of ``SimulationOp`` decides everything, so a
/// schedule replays exactly. Campaigns make schedules from seeds. When one fails, the message has the seed; replay it
/// with
///
///     RIND_TEST_SEED=1234 swift test --filter SimulationCampaignTests
///
/// which runs that seed alone and prints its trace, shrunk to the operations that matter. `SEEDS=20000` runs that many
/// seeds instead of the usual ones.
package final class Simulation: SimulatedWorld {
    /// What a pull has streamed, for another one that would stream the same.
    struct Kept {
        var stream: CachedAnswer
        var spool: SimulatedSpool
        var version: Int
        var madeAt: Int64
    }

    struct CacheKey: Hashable {
        var session: Session
        var presented: Cursor?
    }

    /// How the world is set up.
    package struct Setup: Hashable, Sendable {
        /// Who keeps the checkpoints.
        package var style = PullSettings.CheckpointStyle.server
        /// How many devices one person has.
        package var devices = 2
        /// Whether each device is logged in by itself.
        package var hasOwnSessions = false
        /// Whether repeated pulls go on from where a lost answer's stream has ended.
        package var keepsSpools = true
        /// Whether there are files at the beginning; without, the backend writes checkpoints at every stream.
        package var hasFiles = true
        /// Whether the gateway keeps a ledger.
        package var hasLedger = true
        /// How pushes reach the backend.
        package var pushStyle = PushMachine.Style.stream
        /// Which time a push carries.
        package var pushTime = PushTime.now
        /// What the devices tell of their schema version, by turns.
        package var manners = [SimulatedDevice.Manners.version]
        /// Whether pushes name tables without changes too, as the library does.
        package var namesAllTables = true

        /// Two devices on one session, with a ledger.
        package init() {}
    }

    /// Which time the app sends with a push.
    package enum PushTime: String, CaseIterable, Hashable, Sendable {
        /// The one that it has.
        case now
        /// None, as a third of apps do.
        case none
        /// That from before the pull.
        case before
    }

    /// How long a cached answer is good for, in milliseconds.
    static let repeatWindow: Int64 = 60_000
    static let day: Int64 = 86_400_000
    /// How long ways back, and how long cursors and tombstones are kept.
    static let rewind = 7 * day
    static let maxOffline = 100 * day
    /// With more deltas than this a ledger is compacted.
    static let compactAfter = 2
    /// Cursors from behind more ways back than this get everything.
    static let maximumUndos = 10
    /// So many missing records are always deleted, more of them only up to a share.
    static let comparisonRecords = 3
    static let comparisonPercent = 60

    let setup: Setup
    let settings: PullSettings
    /// Milliseconds since 1970.
    package var now: Int64 = 1_700_000_000_000
    /// The other side.
    package var backend = SimulatedBackend()
    /// What survives a crash.
    package var state = SimulatedState()
    /// The phones.
    package internal(set) var devices: [SimulatedDevice] = []
    /// The pulls that the gateway is busy with.
    package private(set) var pulls: [SimulatedPull] = []
    /// The pushes that the gateway is busy with.
    package private(set) var pushes: [SimulatedPush] = []
    /// Operations of pushes that are still on their way.
    var latePushes: [(key: SimulatedKey, local: SimulatedDevice.Local)] = []
    /// The rules that were broken.
    package private(set) var complaints: [String] = []
    /// What happened, where ``isTracing``.
    package private(set) var trace: [String] = []
    /// How often each way to answer or to fail was taken, so that a campaign can show that it tries them all.
    package private(set) var counts: [String: Int] = [:]
    let isTracing: Bool
    private var locks: Set<String> = []
    private var kept: [CacheKey: Kept] = [:]
    var handedOut: Set<Int64> = []
    private var savedState: SimulatedState?
    /// Records that devices had when the state lost what it knew of them.
    var adrift: Set<SimulatedKey> = []
    /// Everything that was ever pushed.
    var pushed: Set<SimulatedKey> = []
    /// What a device has deleted that was on its way to the backend still.
    var unmade: Set<SimulatedKey> = []
    /// How many times there will be no place for comparing a request type.
    var busyComparisons = 0
    /// Which configuration of the tables the gateway runs with.
    var mapping = 0
    private var queries: [Int: PullQuery] = [:]
    private var pullCount = 0
    var recordCount = 0

    /// A small backend with a project, a task, a comment, two folders and a file of each source.
    package init(_ setup: Setup, isTracing: Bool = false) {
        self.setup = setup
        self.isTracing = isTracing
        settings = PullSettings(
            style: setup.style, completeNamespace: SimulatedSchema.complete, resumeAttempts: 2,
            comparisons: setup.hasLedger ? ComparisonSchedule() : nil)
        for name in ["p0", "p1"] { backend.put(SimulatedKey(.projects, name), SimulatedRecord(value: 1)) }
        backend.put(SimulatedKey(.tasks, "t0"), SimulatedRecord(value: 1, parent: "p0"))
        if setup.hasFiles {
            backend.put(SimulatedKey(.comments, "c0"), SimulatedRecord(value: 1, parent: "t0"))
            backend.put(SimulatedKey(.folders, "d0"), SimulatedRecord(value: 1))
            backend.put(SimulatedKey(.folders, "d1"), SimulatedRecord(value: 1, parent: "d0"))
            for source in 0...1 {
                backend.put(SimulatedKey(.files, "f\(source)"), SimulatedRecord(value: 1, parent: "o0"), source: source)
            }
        }
        for index in 0..<setup.devices {
            let session = Session(rawValue: setup.hasOwnSessions ? "s\(index)" : "s")
            let manners = setup.manners[index % setup.manners.count]
            devices.append(SimulatedDevice(name: "d\(index)", session: session, version: 1, manners: manners))
        }
    }

    func acquire(_ lock: String) -> Bool { locks.insert(lock).inserted }

    func release(_ lock: String) { locks.remove(lock) }

    func takeComparisonPlace() -> Bool {
        if busyComparisons > 0 { busyComparisons -= 1 } else { return true }
        return false
    }

    func complain(_ sentence: String) {
        complaints.append(sentence)
        note("!! \(sentence)")
    }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    func note(_ text: @autoclosure () -> String) {
        if isTracing { trace.append("\(now % 100_000_000_000) \(text())") }
    }

    func note(_ pull: SimulatedPull, _ text: @autoclosure () -> String) {
        note("   pull \(pull.number) of \(devices[pull.device].name): \(text())")
    }
}

// Syncs.
extension Simulation {
    /// A device asks for what is new.
    package func beginPull(_ index: Int) -> SimulatedPull {
        let device = devices[index]
        devices[index].isSyncing = true
        pullCount += 1
        let version = device.told ?? SimulatedSchema.schema.version
        let key = CacheKey(session: device.session, presented: device.cursor)
        let spool = kept[key].flatMap { $0.version == version && now - $0.madeAt < Self.repeatWindow ? $0 : nil }
        kept[key] = nil
        var query = query(at: version)
        query.session = device.session
        query.presented = device.cursor
        query.isFirst = device.cursor == nil
        query.schemaVersion = device.told
        query.asked = device.asked
        query.newReplica = ReplicaID(rawValue: Int64(pullCount))
        query.kept = spool?.stream
        let pull = SimulatedPull(number: pullCount, device: index, query: query, kept: spool, simulation: self)
        pulls.append(pull)
        note("\(device.name) pulls with \(device.cursor.map(\.description) ?? "nothing") on \(device.session)")
        return pull
    }

    /// A query of this version; all pulls of one version and one configuration have most of it in common.
    private func query(at version: Int) -> PullQuery {
        if let query = queries[version], query.mappingDigest == "mapping \(mapping)" { return query }
        let digests = Dictionary(uniqueKeysWithValues: SimulatedTable.allCases.map { ($0.name, "\($0) \(mapping)") })
        let query = PullQuery(
            principal: Principal(rawValue: "somebody"), session: Session(rawValue: "s"), presented: nil,
            schemaVersion: nil, schema: SimulatedSchema.schema, effectiveVersion: version,
            mappingDigest: "mapping \(mapping)", tableDigests: digests, newReplica: ReplicaID(rawValue: 0))
        queries[version] = query
        return query
    }

    /// Runs a pull until the next action is one that the test waits for, or to its end.
    package func run(_ pull: SimulatedPull, until isReached: (PullAction) -> Bool = { _ in false }) async throws {
        var steps = 0
        while !pull.isOver, !isReached(pull.action) {
            try await pull.step()
            steps += 1
            if steps > 20_000 {
                complain("a pull does not come to an end: \(pull.action)")
                return
            }
        }
    }

    /// A whole sync without any disturbance.
    package func sync(_ index: Int) async throws -> SimulatedPull {
        let pull = beginPull(index)
        try await run(pull)
        push(index)
        return pull
    }

    /// A device sends its edits, if it has any.
    package func beginPush(_ index: Int, _ outcome: SimulatedPush.Outcome = .answered) -> SimulatedPush? {
        let pending = devices[index].pending
        guard !pending.isEmpty, devices[index].cursor != nil else { return nil }
        let time =
            switch setup.pushTime {
            case .now: devices[index].cursor
            case .none: Cursor?.none
            case .before: devices[index].cursorBefore ?? devices[index].cursor
            }
        note(
            "\(devices[index].name) pushes \(pending.keys.sorted()) with \(time?.description ?? "nothing"), \(outcome)")
        count("push \(outcome)")
        let push = SimulatedPush(device: index, outcome: outcome, presented: time, simulation: self)
        devices[index].isSyncing = true
        pushes.append(push)
        pushed.formUnion(pending.keys)
        return push
    }

    /// A whole push.
    package func push(_ index: Int, _ outcome: SimulatedPush.Outcome = .answered) {
        guard let push = beginPush(index, outcome) else { return }
        while !push.isOver { push.step() }
    }

    /// The device stops waiting for the answer, the gateway does not notice.
    package func abandon(_ pull: SimulatedPull) {
        guard !pull.isOver, !pull.isAbandoned else { return }
        note(pull, "nobody waits any more")
        pull.isAbandoned = true
        devices[pull.device].isSyncing = false
    }

    func keep(_ stream: CachedAnswer, of pull: SimulatedPull) {
        guard setup.keepsSpools else { return }
        kept[CacheKey(session: pull.query.session, presented: pull.query.presented)] = Kept(
            stream: stream, spool: pull.spool, version: pull.query.effectiveVersion, madeAt: now)
    }

    /// A pull that has failed leaves what it went on from to the next.
    func keepAgain(_ stream: Kept, of pull: SimulatedPull) {
        kept[CacheKey(session: pull.query.session, presented: pull.query.presented)] = stream
    }

    func ended(_ pull: SimulatedPull) {
        if let failure = pull.failure { note(pull, "failed: \(failure)") }
        pulls.removeAll { $0 === pull }
        if !pull.isAbandoned { devices[pull.device].isSyncing = false }
    }

    func ended(_ push: SimulatedPush, isDone: Bool) {
        pushes.removeAll { $0 === push }
        devices[push.device].isSyncing = false
        if isDone { devices[push.device].markPushed(push.sent) }
    }
}

// What happens to the gateway.
extension Simulation {
    /// The gateway dies and starts again: only the state is left.
    package func crash() {
        note("the gateway crashes")
        pulls = []
        pushes = []
        locks = []
        kept = [:]
        for index in devices.indices { devices[index].isSyncing = false }
    }

    /// Copies the state away.
    package func saveState() { savedState = state }

    /// An operator puts an older copy of the state in place, or begins with an empty one where there is none.
    package func restoreState() {
        crash()
        // It takes longer than a millisecond, so what the lost state has handed out lies in the past.
        now += 1_000
        note("an older state is restored")
        state = savedState ?? SimulatedState()
        state.distrustAll(now: now)
        setAdrift()
    }

    /// What devices have now, nobody knows any more.
    func setAdrift() {
        for device in devices {
            adrift.formUnion(device.records.keys)
            adrift.formUnion(device.backup?.records.keys.map { $0 } ?? [])
        }
    }

    /// Sets adrift what only one of two copies of a device got: nobody knows of it after `rewind`.
    func setStraysAdrift() {
        for (place, device) in devices.enumerated() {
            guard let cursor = device.cursor, state.strays.contains(cursor) else { continue }
            var others: Set<SimulatedKey> = []
            for (other, device) in devices.enumerated() where other != place { others.formUnion(device.records.keys) }
            adrift.formUnion(Set(device.records.keys).subtracting(others))
        }
    }
}
