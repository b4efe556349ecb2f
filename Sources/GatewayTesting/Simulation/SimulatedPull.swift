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
    let simulation: Simulation
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
    /// What came, once it has.
    private(set) var answer: SimulatedAnswer?
    /// Nobody waits for the answer any more.
    package var isAbandoned = false
    var fault: Fault?
    var isCut = false
    /// The backend's count when it began, and when it looked at the stream last.
    private(set) var began: Int
    private(set) var lookedAt = 0
    private var wakesAt: Int64 = 0
    private var stream: SimulatedStream?
    var spool: SimulatedSpool
    private var received = CheckpointVector()
    private var carriedData = false
    private var committed: CursorRow?
    private var kept: Simulation.Kept?

    // What it knows of the ledger.
    var context = PullContext()
    var outline: LedgerOutline?
    /// The ledgers that it was diffed against.
    var ledgersRead: [LedgerOutline] = []
    var compaction: Compaction?
    var comparisonBegan: UInt64?
    /// What had come by then, to go back to where the comparison fails.
    private var beforeComparison: SimulatedSpool
    /// Whether the last request ended without its complete line.
    private var hasBroken = false
    var diff: LedgerDiff?
    var chunks: [LedgerChunk] = []
    var arrays: [SimulatedArray: [String]] = [:]
    /// What was compared with what, the last time.
    package var diffPlan: LedgerDiffPlan?

    init(number: Int, device: Int, query: PullQuery, kept: Simulation.Kept?, simulation: Simulation) {
        self.number = number
        self.device = device
        self.query = query
        self.kept = kept
        self.simulation = simulation
        began = simulation.backend.counter
        spool = SimulatedSpool(version: query.effectiveVersion)
        beforeComparison = spool
        machine = PullMachine(query: query, settings: simulation.settings)
        action = machine.begin()
    }

    /// Whether it went on from what an earlier pull had streamed.
    package var hasTakenCached: Bool { machine.hasTakenCached }
    /// What the client has only just got.
    var change: SchemaChange? { machine.negotiation.change }

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
            guard machine.isComparing, isCall else { return fail("the request was lost") }
            return dropComparison()
        }
        let event = try await perform()
        guard let event, !isOver else { return }
        if fault == .lostAnswer, isFallible {
            guard machine.isComparing, isCall else { return fail("the answer was lost") }
            return dropComparison()
        }
        action = machine.handle(event)
        simulation.note(self, "→ \(action)")
    }

    /// Calls to the backend and transactions can be lost; a stream is cut instead.
    private var isFallible: Bool {
        switch action {
        case .loadContext, .beginComparison, .dropComparison, .sleep, .readClock, .answer, .fail, .refuse,
            .stream(.open), .stream(.sleep):
            false
        case .compactLedger, .confirm, .stream, .diff, .commit: true
        }
    }

    /// Calls to the backend; what else is fallible is a transaction.
    private var isCall: Bool {
        switch action {
        case .stream(.listCheckpoints), .stream(.forget), .stream(.forgetAll), .stream(.acknowledge),
            .stream(.acknowledgeReset):
            true
        default: false
        }
    }

    /// A call has failed that belongs to a comparison.
    private func dropComparison() {
        fault = nil
        simulation.count("call failed in a comparison")
        action = machine.handle(.comparisonFailed)
        simulation.note(self, "→ \(action)")
    }

    func fail(_ reason: String) {
        failure = reason
        if let kept { simulation.keepAgain(kept, of: self) }
        simulation.count(reason)
        end()
    }

    private func end() {
        isOver = true
        if isRunning { simulation.release(lockName) }
        simulation.ended(self)
    }

    private func perform() async throws -> PullEvent? {
        switch action {
        case .loadContext: return loadContext()
        case .compactLedger: return try await compactLedger()
        case .beginComparison(let type): return beginComparison(type)
        case .dropComparison:
            simulation.count("comparison failed")
            spool = beforeComparison
            comparisonBegan = nil
        case .diff(let plan): return .diffed(try await diff(plan))
        case .confirm(let cursor): simulation.state.confirm(cursor, now: simulation.now)
        case .stream(let action): return perform(action).map { .stream($0) }
        case .sleep(let pause): wakesAt = simulation.now + pause
        case .readClock: return .clock(simulation.now)
        case .commit(let row, let isNewReplica): return commit(row, isNewReplica: isNewReplica)
        case .answer(let plan): answer(plan)
        case .fail(let failure):
            if committed != nil { simulation.complain("a failed pull has made a cursor") }
            fail(failure.rawValue)
        case .refuse(let refusal): fail(refusal.code)
        }
        return .done
    }

    private func perform(_ action: StreamAction) -> StreamEvent? {
        let session = query.session
        switch action {
        case .storePosition(let position): simulation.state.store(position, session: session)
        case .listCheckpoints:
            return .listed(CheckpointVector(simulation.backend.checkpoints(session: session.rawValue)))
        case .forget(let namespaces): simulation.backend.forget(namespaces, session: session.rawValue)
        case .forgetAll: simulation.backend.forget(nil, session: session.rawValue)
        case .acknowledge(let tokens): simulation.backend.acknowledge(tokens, session: session.rawValue)
        case .raiseGeneration: return .generationRaised(simulation.state.raiseGeneration(session: session))
        case .acknowledgeReset(let token): simulation.backend.acknowledge([token], session: session.rawValue)
        case .open(let types, let from, let afresh): return pump(types, from, afresh)
        case .takeCached:
            simulation.count("went on from a lost answer")
            spool = kept?.spool ?? spool
        case .sleep(let pause): wakesAt = simulation.now + pause
        }
        return .done
    }

    private func beginComparison(_ type: String) -> PullEvent {
        let isGranted = simulation.takeComparisonPlace()
        if isGranted { (comparisonBegan, beforeComparison) = (spool.lines, spool) }
        simulation.count(isGranted ? "comparison" : "comparison refused")
        return .comparisonGranted(isGranted)
    }

    /// Opens the stream, then takes one item at a time out of it.
    private func pump(_ types: [String], _ from: CheckpointVector, _ afresh: Bool) -> StreamEvent? {
        guard var open = stream else {
            if afresh {
                spool = SimulatedSpool(version: query.effectiveVersion, added: change?.columns ?? [:])
                comparisonBegan = nil
                hasBroken = false
            }
            spool.beginRequest(isResumed: hasBroken)
            if let named = simulation.backend.refusal(of: types) { return typesRefused(named) }
            received = CheckpointVector()
            carriedData = false
            lookedAt = simulation.backend.counter
            let name = simulation.settings.style == .server ? query.session.rawValue : nil
            stream = SimulatedStream(&simulation.backend, types: types, session: name, carried: from.tokens)
            return nil
        }
        if isCut {
            isCut = false
            simulation.note(self, "stream cut")
            simulation.count("cut")
            // Not every failure is one that is worth another try.
            if machine.isComparing, spool.lines.isMultiple(of: 2) {
                stream = nil
                dropComparison()
                return nil
            }
            return streamEnded(.broken)
        }
        let item = open.next(&simulation.backend)
        stream = open
        switch item {
        case .query: return nil
        case .line(let line):
            simulation.note(self, "line \(line.type) \(line.content) \(line.token)")
            received.advance(to: Checkpoint(token: line.token, lineType: line.type))
            if case .acknowledgement = line.content {} else { carriedData = true }
            spool.add(line)
            return nil
        case .reset: return streamEnded(.reset(token: SimulatedSchema.resetToken))
        case .complete(let token):
            received.advance(to: Checkpoint(token: token, lineType: SimulatedSchema.complete))
            return streamEnded(.complete)
        }
    }

    private func typesRefused(_ named: [String]) -> StreamEvent? {
        simulation.note(self, "refused, \(named) named")
        guard machine.isComparing else {
            simulation.count("types refused")
            return .typesRefused(named: named)
        }
        dropComparison()
        return nil
    }

    private func streamEnded(_ end: StreamReport.End) -> StreamEvent {
        stream = nil
        hasBroken = end == .broken
        return .ended(StreamReport(end: end, received: received, carriedData: carriedData))
    }

    private func commit(_ row: CursorRow, isNewReplica: Bool) -> PullEvent? {
        do {
            try simulation.state.commit(
                row, isNewReplica: isNewReplica, ledgerCommit, basedOn: diff == nil ? [] : ledgersRead,
                now: simulation.now)
        } catch .taken(let newest) {
            simulation.count("cursor taken")
            return .cursorTaken(newest: newest)
        } catch {
            fail("\(error)")
            return nil
        }
        if isNewReplica, query.presented != nil { simulation.count(context.isFork ? "fork" : "new replica") }
        committed = row
        return .done
    }

    private func countMigration() {
        let isKept = machine.hasTakenCached ? ", repeated" : ""
        let way = query.asked != nil ? "asked" : query.schemaVersion != nil ? "told" : "inferred"
        simulation.count("migration \(way)\(isKept)")
        if context.row?.schemaVersion == nil { simulation.count("migration without LS") }
        if plan?.restart != nil { simulation.count("migration in a restart") }
    }

    private var ledgerCommit: SimulatedState.Ledger {
        guard simulation.settings.comparisons != nil else { return .none }
        return diff.map { .chunks(chunks, $0.counts) } ?? .none
    }

    private func answer(_ plan: PullAnswerPlan) {
        self.plan = plan
        simulation.state.receipts = []
        simulation.count("content \(plan.content)")
        simulation.count("delivery \(plan.delivery)")
        if let restart = plan.restart { simulation.count("restart \(restart)") }
        if change != nil { countMigration() }
        let timestamp = plan.cursor.rawValue
        let answer: SimulatedAnswer
        switch plan.content {
        case .nothing: answer = SimulatedAnswer(timestamp: timestamp, arrays: [:])
        case .streamed:
            answer = SimulatedAnswer(timestamp: timestamp, arrays: arrays)
            if let stream = machine.cachedAnswer { simulation.keep(stream, of: self) }
        }
        if plan.content != .nothing, committed == nil || committed != simulation.state.rows[timestamp] {
            simulation.complain("the cursor \(timestamp) goes out before it is durable")
        }
        self.answer = answer
        simulation.answered(self, answer, isNew: plan.content != .nothing)
        end()
    }
}
