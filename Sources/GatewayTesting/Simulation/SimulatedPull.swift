// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncEngine
import SyncModel

/// One pull in the simulated gateway: runs the actions of a real machine, one step at a time.
package final class SimulatedPull {
    /// What may happen to the next action that leaves the process.
    enum Fault {
        /// It never arrives.
        case lostRequest
        /// It has its effect, and nobody hears of it.
        case lostAnswer
    }

    /// For traces.
    let number: Int
    let device: Int
    let query: PullQuery
    private let simulation: Simulation
    private var machine: PullMachine
    /// What comes next.
    package private(set) var action: PullAction
    /// Whether it has the session's lock.
    private(set) var isRunning = false
    /// Whether it is over.
    package private(set) var isOver = false
    /// Why the answer came whole, once it has come.
    package private(set) var plan: PullAnswerPlan?
    /// Why it failed, where it did; a lost call has no code of the machine.
    package private(set) var failure: String?
    /// Nobody waits for the answer any more.
    package var isAbandoned = false
    var fault: Fault?
    var isCut = false
    private var wakesAt: Int64 = 0
    private var stream: SimulatedStream?
    private var spool = SimulatedSpool()
    private var received = CheckpointVector()
    private var carriedData = false
    private var committed: CursorRow?
    private var kept: Simulation.Kept?

    init(number: Int, device: Int, query: PullQuery, kept: Simulation.Kept?, simulation: Simulation) {
        self.number = number
        self.device = device
        self.query = query
        self.kept = kept
        self.simulation = simulation
        machine = PullMachine(query: query, settings: simulation.settings)
        action = machine.begin()
    }

    /// Which other pulls must not run at the same time.
    var lockName: String {
        if simulation.settings.style == .server { return query.session.rawValue }
        let replica = query.presented.flatMap { simulation.state.rows[$0.rawValue]?.replica }
        return "replica \((replica ?? query.newReplica).rawValue)"
    }

    /// Does the next action, or one item of the stream.
    package func step() async throws {
        guard !isOver else { return }
        if !isRunning {
            guard simulation.acquire(lockName) else { return }
            isRunning = true
        }
        simulation.now = max(simulation.now, wakesAt)
        if fault == .lostRequest, isFallible {
            return fail("the request was lost")
        }
        let event = try await perform()
        guard let event, !isOver else { return }
        if fault == .lostAnswer, isFallible { return fail("the answer was lost") }
        action = machine.handle(event)
        simulation.note(self, "→ \(action)")
    }

    /// Calls to the backend and transactions can be lost; a stream is cut instead.
    private var isFallible: Bool {
        switch action {
        case .loadContext, .stream, .sleep, .readClock, .answer, .fail: false
        default: true
        }
    }

    private func fail(_ reason: String) {
        failure = reason
        simulation.count(reason)
        end()
    }

    private func end() {
        isOver = true
        if isRunning { simulation.release(lockName) }
        simulation.ended(self)
    }

    private func perform() async throws -> PullEvent? {
        let session = query.session
        switch action {
        case .loadContext:
            return .context(simulation.state.context(presented: query.presented, session: session))
        case .confirm(let cursor): simulation.state.confirm(cursor)
        case .storePosition(let position): simulation.state.store(position, session: session)
        case .listCheckpoints:
            return .listed(CheckpointVector(simulation.backend.checkpoints(session: session.rawValue)))
        case .forget(let namespaces): simulation.backend.forget(namespaces, session: session.rawValue)
        case .forgetAll: simulation.backend.forget(nil, session: session.rawValue)
        case .acknowledge(let tokens): simulation.backend.acknowledge(tokens, session: session.rawValue)
        case .raiseGeneration: return .generationRaised(simulation.state.raiseGeneration(session: session))
        case .acknowledgeReset(let token): simulation.backend.acknowledge([token], session: session.rawValue)
        case .stream(let types, let from, let afresh): return pump(types, from, afresh)
        case .verifyCredential: break
        case .sleep(let pause): wakesAt = simulation.now + pause
        case .readClock: return .clock(simulation.now)
        case .commit(let row, _):
            if let newest = simulation.state.commit(row) {
                simulation.count("cursor taken")
                return .cursorTaken(newest: newest)
            }
            if row.parent == nil, plan == nil, query.presented != nil { simulation.count("new replica") }
            committed = row
        case .answer(let plan): try await answer(plan)
        case .fail(let failure):
            if committed != nil { simulation.complain("a failed pull has made a cursor") }
            fail(failure.rawValue)
        }
        return .done
    }

    /// Opens the stream, then takes one item at a time out of it.
    private func pump(_ types: [String], _ from: CheckpointVector, _ afresh: Bool) -> PullEvent? {
        guard var open = stream else {
            if afresh { spool = SimulatedSpool() }
            received = CheckpointVector()
            carriedData = false
            let name = simulation.settings.style == .server ? query.session.rawValue : nil
            stream = SimulatedStream(&simulation.backend, types: types, session: name, carried: from.tokens)
            return nil
        }
        if isCut {
            isCut = false
            simulation.note(self, "stream cut")
            simulation.count("cut")
            return streamEnded(.broken)
        }
        let item = open.next(&simulation.backend)
        stream = open
        switch item {
        case .query: return nil
        case .line(let line):
            simulation.note(self, "line \(line.type) \(line.key.map(\.description) ?? "-") \(line.token)")
            received.advance(to: Checkpoint(token: line.token, lineType: line.type))
            carriedData = carriedData || line.key != nil
            spool.add(line)
            return nil
        case .reset: return streamEnded(.reset(token: SimulatedSchema.resetToken))
        case .complete(let token):
            received.advance(to: Checkpoint(token: token, lineType: SimulatedSchema.complete))
            return streamEnded(.complete)
        }
    }

    private func streamEnded(_ end: StreamReport.End) -> PullEvent {
        stream = nil
        return .streamEnded(StreamReport(end: end, received: received, carriedData: carriedData))
    }

    private func answer(_ plan: PullAnswerPlan) async throws {
        self.plan = plan
        simulation.count("content \(plan.content)")
        simulation.count("delivery \(plan.delivery)")
        if let restart = plan.restart { simulation.count("restart \(restart)") }
        let timestamp = plan.cursor.rawValue
        let answer: SimulatedAnswer
        switch plan.content {
        case .nothing: answer = SimulatedAnswer(timestamp: timestamp, segments: [:], delivery: plan.delivery)
        case .streamed:
            let segments = try await spool.finish()
            answer = SimulatedAnswer(timestamp: timestamp, segments: segments, delivery: plan.delivery)
            simulation.keep(segments, of: self, plan)
        case .kept:
            answer = SimulatedAnswer(timestamp: timestamp, segments: kept?.segments ?? [:], delivery: plan.delivery)
        }
        if plan.content != .nothing, committed == nil || committed != simulation.state.rows[timestamp] {
            simulation.complain("the cursor \(timestamp) goes out before it is durable")
        }
        simulation.answered(self, answer, isNew: plan.content != .nothing)
        end()
    }
}
