// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncEngine
import SyncModel

/// A world in one process and in virtual time: the gateway's real machines between a model of the backend and models of
/// its clients.
///
/// Nothing here sleeps, reads a clock or draws a random number: a schedule of ``SimulationOp`` decides everything, so a
/// schedule replays exactly. Campaigns make schedules from seeds. When one fails, the message has the seed; replay it
/// with
///
///     RIND_TEST_SEED=1234 swift test --filter SimulationCampaignTests
///
/// which runs that seed alone and prints its trace, shrunk to the operations that matter. `RIND_TEST_SEEDS=20000` runs
/// that many seeds instead of the usual ones.
///
/// Until there is a ledger, what a device holds cannot be told from what it should no longer hold where the backend says
/// nothing about it. So records whose deletion the stream cannot carry (children of revoked projects, tombstones that a
/// reset or the retention took away) may stay on a device; everything that is visible at the backend must be there.
package final class Simulation {
    /// A finished pull whose spool can answer a repeated request.
    struct Kept {
        var kept: PullQuery.Kept
        var segments: [SegmentKey: [String]]
        var version: Int
        var madeAt: Int64
    }

    /// How the world is set up.
    package struct Setup: Hashable, Sendable {
        /// Who keeps the checkpoints.
        package var style = PullSettings.CheckpointStyle.server
        /// How many devices one person has.
        package var devices = 2
        /// Whether each device is logged in by itself.
        package var hasOwnSessions = false
        /// Whether finished spools answer repeated pulls.
        package var keepsSpools = true
        /// Whether there are files at the beginning; without, the backend writes checkpoints at every stream.
        package var hasFiles = true

        /// Two devices on one session.
        package init() {}
    }

    /// How long a kept spool is good for, in milliseconds.
    static let repeatWindow: Int64 = 60_000

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
    /// The rules that were broken.
    package private(set) var complaints: [String] = []
    /// What happened, where ``isTracing``.
    package private(set) var trace: [String] = []
    /// How often each way to answer or to fail was taken, so that a campaign can show that it tries them all.
    package private(set) var counts: [String: Int] = [:]
    let isTracing: Bool
    private var locks: Set<String> = []
    private var kept: [Int64: Kept] = [:]
    private var handedOut: Set<Int64> = []
    private var savedState: SimulatedState?
    private var pullCount = 0
    var recordCount = 0

    /// A small backend with a project, its task and a file of each source.
    package init(_ setup: Setup, isTracing: Bool = false) {
        self.setup = setup
        self.isTracing = isTracing
        settings = PullSettings(style: setup.style, completeNamespace: SimulatedSchema.complete, resumeAttempts: 2)
        for name in ["p0", "p1"] { backend.put(SimulatedKey(.projects, name), SimulatedRecord(value: 1)) }
        backend.put(SimulatedKey(.tasks, "t0"), SimulatedRecord(value: 1, parent: "p0"))
        if setup.hasFiles {
            for source in 0...1 {
                backend.put(SimulatedKey(.files, "f\(source)"), SimulatedRecord(value: 1), source: source)
            }
        }
        for index in 0..<setup.devices {
            let session = Session(rawValue: setup.hasOwnSessions ? "s\(index)" : "s")
            devices.append(SimulatedDevice(name: "d\(index)", session: session, version: 1))
        }
    }

    func acquire(_ lock: String) -> Bool { locks.insert(lock).inserted }

    func release(_ lock: String) { locks.remove(lock) }

    func complain(_ sentence: String) {
        complaints.append(sentence)
        note("!! \(sentence)")
    }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    func note(_ text: @autoclosure () -> String) {
        if isTracing { trace.append("\(now % 100_000_000) \(text())") }
    }

    func note(_ pull: SimulatedPull, _ text: @autoclosure () -> String) {
        note("   pull \(pull.number) of \(devices[pull.device].name): \(text())")
    }
}

// What a directed schedule writes at the backend.
extension Simulation {
    /// Writes a task.
    package func putTask(_ id: String, _ value: Int, in project: String = "p0") {
        backend.put(SimulatedKey(.tasks, id), SimulatedRecord(value: value, parent: project))
    }

    /// Deletes a task, with a tombstone.
    package func removeTask(_ id: String) { backend.remove(SimulatedKey(.tasks, id)) }

    /// Takes the project out of sight, with everything in it.
    package func revoke(_ project: String) { backend.revoke(project) }

    /// Brings the project into sight, with everything in it.
    package func grant(_ project: String) { backend.grant(project) }

    /// The value of a task on a device, nil where it is not there.
    package func task(_ id: String, on device: Int) -> Int? { devices[device].shown[SimulatedKey(.tasks, id)]?.value }
}

// Syncs.
extension Simulation {
    /// A device asks for what is new.
    package func beginPull(_ index: Int) -> SimulatedPull {
        let device = devices[index]
        devices[index].isSyncing = true
        pullCount += 1
        // First pulls are offered one as well: it is the engine that must not take it (finding 8).
        let spool = kept[device.cursor?.rawValue ?? 0]
            .flatMap { $0.version == device.version && now - $0.madeAt < Self.repeatWindow ? $0 : nil }
        let query = PullQuery(
            principal: Principal(rawValue: "somebody"), session: device.session, presented: device.cursor,
            schemaVersion: device.version, schema: SimulatedSchema.schema, effectiveVersion: device.version,
            mappingDigest: "mapping", newReplica: ReplicaID(rawValue: Int64(pullCount)), kept: spool?.kept)
        let pull = SimulatedPull(number: pullCount, device: index, query: query, kept: spool, simulation: self)
        pulls.append(pull)
        note("\(device.name) pulls with \(device.cursor.map(\.description) ?? "nothing") on \(device.session)")
        return pull
    }

    /// Runs a pull until the next action is one that the test waits for, or to its end.
    package func run(_ pull: SimulatedPull, until isReached: (PullAction) -> Bool = { _ in false }) async throws {
        var steps = 0
        while !pull.isOver, !isReached(pull.action) {
            try await pull.step()
            steps += 1
            if steps > 10_000 {
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

    /// A device sends its edits; the backend takes them in one transaction.
    package func push(_ index: Int, isAnswerLost: Bool = false) {
        let pending = devices[index].pending
        guard !pending.isEmpty, devices[index].cursor != nil else { return }
        note("\(devices[index].name) pushes \(pending.keys.sorted())\(isAnswerLost ? ", answer lost" : "")")
        let ordered = pending.sorted { a, b in
            (a.value.status == .deleted ? 1 : 0, a.key) < (b.value.status == .deleted ? 1 : 0, b.key)
        }
        for (key, local) in ordered { backend.push(key, local.status == .deleted ? nil : local.record) }
        if !isAnswerLost { devices[index].markPushed(pending) }
    }

    /// The device stops waiting for the answer, the gateway does not notice.
    package func abandon(_ pull: SimulatedPull) {
        guard !pull.isOver, !pull.isAbandoned else { return }
        note(pull, "nobody waits any more")
        pull.isAbandoned = true
        devices[pull.device].isSyncing = false
    }

    func answered(_ pull: SimulatedPull, _ answer: SimulatedAnswer, isNew: Bool) {
        let device = devices[pull.device]
        if let repeated = answer.repeated { complain("\(repeated) is twice in one answer") }
        if isNew, !handedOut.insert(answer.timestamp).inserted {
            complain("the cursor \(answer.timestamp) is handed out twice")
        }
        if !isNew, answer.timestamp != pull.query.presented?.rawValue {
            complain("an answer without changes carries another cursor")
        }
        note(pull, "answers \(answer.timestamp): \(answer.summary)\(pull.isAbandoned ? ", lost" : "")")
        guard !pull.isAbandoned, device.cursor == pull.query.presented else { return }
        devices[pull.device].apply(answer)
    }

    func keep(_ segments: [SegmentKey: [String]], of pull: SimulatedPull, _ plan: PullAnswerPlan) {
        guard setup.keepsSpools, let row = plan.row else { return }
        let value = PullQuery.Kept(
            vector: row.vector, session: row.session, generation: row.generation, replica: row.replica,
            delivery: plan.delivery)
        kept[pull.query.presented?.rawValue ?? 0] = Kept(
            kept: value, segments: segments, version: pull.query.schemaVersion ?? 0, madeAt: now)
    }

    func ended(_ pull: SimulatedPull) {
        if let failure = pull.failure { note(pull, "failed: \(failure)") }
        pulls.removeAll { $0 === pull }
        if !pull.isAbandoned { devices[pull.device].isSyncing = false }
    }
}

// What happens to the gateway.
extension Simulation {
    /// The gateway dies and starts again: only the state is left.
    package func crash() {
        note("the gateway crashes")
        pulls = []
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
        state.distrustAll()
    }
}

// The oracle.
extension Simulation {
    /// Lets everything come to rest; says what is wrong, nil where nothing is.
    package func settle() async throws -> String? {
        while let pull = pulls.first(where: { $0.isRunning }) ?? pulls.first {
            try await run(pull)
            if !complaints.isEmpty { return complaints[0] }
        }
        note("--- quiet")
        for _ in 0..<4 {
            for index in devices.indices {
                let pull = try await sync(index)
                if let failure = pull.failure { return "a quiet pull of \(devices[index].name) failed: \(failure)" }
                // One that goes out later than all others, as people's do.
                now += 1_000
            }
        }
        return complaints.first ?? difference()
    }

    /// How a device differs from the backend, beyond what the protocol cannot tell; nil where none does.
    package func difference() -> String? {
        for device in devices {
            let shown = device.shown
            let wanted = backend.visible(to: device.version)
            for key in Set(shown.keys).union(wanted.keys).sorted() where !backend.refused.contains(key) {
                if wanted[key] == shown[key] { continue }
                if wanted[key] == nil, backend.forgotten.contains(key) { continue }
                let (have, want) = (shown[key]?.description ?? "nothing", wanted[key]?.description ?? "nothing")
                return "\(device.name) shows \(have) for \(key), the backend has \(want)"
            }
            if let key = device.pending.keys.filter({ !backend.refused.contains($0) }).min() {
                return "\(device.name) never gets rid of its edit of \(key)"
            }
        }
        return nil
    }
}

extension SimulatedAnswer {
    /// Short enough for a trace.
    var summary: String {
        let rows: ([SimulatedKey: SimulatedRecord]) -> String = { rows in
            rows.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }
        return "created [\(rows(created))] updated [\(rows(updated))] deleted \(deleted.sorted())"
    }
}
