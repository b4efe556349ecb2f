// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Logging
import NIOCore
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

/// Runs the actions of one pull: what the machine decides, this does.
struct PullRunner {
    let services: SyncServices
    let query: PullQuery
    let identity: CallerIdentity
    let projection: Projection
    let logger: Logger
    /// The spool of an earlier pull with the same cursor.
    let kept: KeptSpools.Entry?

    private var spooler: StreamSpooler
    /// Whether this pull has streamed; a kept spool that was offered may turn out not to fit.
    private var hasStreamed = false
    private var finished: FinishedSpool?
    private var figures = SyncFigures()

    init(
        services: SyncServices, query: PullQuery, identity: CallerIdentity, projection: Projection,
        kept: KeptSpools.Entry?, logger: Logger
    ) {
        self.services = services
        self.query = query
        self.identity = identity
        self.projection = projection
        self.kept = kept
        self.logger = logger
        spooler = services.makeSpooler(projection)
        figures.principal = query.principal.description
        figures.presented = query.presented?.rawValue
    }

    /// Says in the log whose request it speaks for.
    private var backend: BackendClient {
        var backend = services.backend
        backend.logger = logger
        return backend
    }

    /// Runs the pull to its end.
    mutating func run() async throws -> PullAnswer {
        var machine = PullMachine(query: query, settings: services.pullSettings)
        var action = machine.begin()
        while true {
            switch action {
            case .answer(let plan): return try await answer(plan)
            case .fail(let failure): throw failure
            default:
                try Task.checkCancellation()
                action = machine.handle(try await perform(action))
            }
        }
    }

    private mutating func perform(_ action: PullAction) async throws -> PullEvent {
        switch action {
        case .loadContext: return .context(try await loadContext())
        case .confirm(let cursor):
            try await services.store.confirm(principal: query.principal, cursor: cursor, at: services.clock.now)
        case .storePosition(let position):
            try await services.store.setPosition(
                position, principal: query.principal, session: query.session, at: services.clock.now)
        case .listCheckpoints: return .listed(try await backend.list(identity.forwarded))
        case .forget(let namespaces):
            try await backend.forget(namespaces: namespaces, identity.forwarded)
        case .forgetAll: try await backend.forgetAll(identity.forwarded)
        case .acknowledge(let tokens): return try await acknowledge(tokens)
        case .raiseGeneration:
            let generation = try await services.store.raiseGeneration(
                principal: query.principal, session: query.session, at: services.clock.now)
            logger.notice("the backend demands a reset", metadata: ["generation": "\(generation)"])
            return .generationRaised(generation)
        case .acknowledgeReset(let token): try await backend.acknowledge([token], identity.forwarded)
        case .stream(let types, let vector, let afresh):
            return .streamEnded(try await stream(types, from: vector, afresh: afresh))
        case .verifyCredential: try await services.identities.verify(identity, at: services.clock.now)
        case .sleep(let milliseconds): try await services.clock.sleep(milliseconds: milliseconds)
        case .readClock: return .clock(services.clock.now)
        case .commit(let row, let isNewReplica): return try await commit(row, isNewReplica: isNewReplica)
        case .answer, .fail: preconditionFailure("the end of a pull is not an action to perform")
        }
        return .done
    }

    private func acknowledge(_ tokens: [String]) async throws -> PullEvent {
        do {
            try await backend.acknowledge(tokens, identity.forwarded)
            return .done
        } catch BackendError.refused(let status) {
            logger.error("the backend refuses checkpoints that it has made itself", metadata: ["status": "\(status)"])
            return .tokensRefused
        }
    }

    private mutating func loadContext() async throws -> SyncEngine.PullContext {
        let context = try await services.store.pullContext(
            principal: query.principal, session: query.session, presented: query.presented)
        if context.belongsToAnotherPrincipal {
            // The cursor is worth nothing here, but the operator may want to know (finding 26).
            logger.warning("a cursor of another principal was presented: does the credential rotate?")
        }
        return SyncEngine.PullContext(
            row: context.row, hasConfirmedSuccessor: context.hasConfirmedSuccessor,
            isNewestOfReplica: context.newestOfReplica == context.row?.cursor, newest: context.newest,
            session: context.session)
    }

    /// Streams into the spool; an interruption is reported, a refusal is thrown.
    private mutating func stream(
        _ types: [String], from vector: CheckpointVector, afresh: Bool
    ) async throws -> StreamReport {
        if afresh {
            spooler = services.makeSpooler(projection)
        } else {
            figures.resumes += 1
        }
        hasStreamed = true
        spooler.beginRequest()
        do {
            let stream = try await backend.openStream(types: types, vector: vector, identity.forwarded)
            services.identities.accepted(identity, at: services.clock.now)
            try await services.store.markAccepted(
                principal: query.principal, session: query.session, at: services.clock.now)
            for try await buffer in stream {
                try await spooler.take(buffer)
                if spooler.isEnded { break }
            }
        } catch let error as BackendError where error.isWorthResuming {
            logger.notice("the backend's stream broke", metadata: ["code": "\(error.code)", "error": "\(error)"])
        }
        return spooler.report()
    }

    private mutating func commit(_ row: CursorRow, isNewReplica: Bool) async throws -> PullEvent {
        // Whatever can fail has failed before the client's place is written.
        if hasStreamed, finished == nil { finished = try await spooler.finish() }
        do {
            try await services.store.commit(
                PullCommit(
                    row: row, replica: isNewReplica ? .new : .existing, quarantined: spooler.quarantined,
                    result: "pull", now: services.clock.now))
        } catch StateError.cursorTaken(let newest) {
            return .cursorTaken(newest: newest)
        }
        return .done
    }

    private mutating func answer(_ plan: PullAnswerPlan) async throws -> PullAnswer {
        // A push may have left one while this pull was streaming (finding 18); nothing is written where there is none.
        if plan.row == nil { try await services.store.dropReceipts(principal: query.principal) }
        let spool: FinishedSpool? =
            switch plan.content {
            case .nothing: nil
            case .streamed: finished
            case .kept: kept?.spool
            }
        precondition(plan.content == .nothing || spool != nil, "an answer has content that nobody has spooled")
        keep(spool, plan)
        fill(plan, spool)
        let tables = projection.schema.tables.enumerated().filter { $0.element.since <= projection.schemaVersion }
        return PullAnswer(
            figures: figures, cursor: plan.cursor, delivery: plan.delivery,
            tables: tables.map { ($0.offset, $0.element.name) }, spool: spool,
            writer: AnswerWriter(dialect: services.dialect))
    }

    /// Keeps the spool for the very same request, whose answer may get lost.
    private func keep(_ spool: FinishedSpool?, _ plan: PullAnswerPlan) {
        guard plan.content == .streamed, plan.restart == nil, let spool, let row = plan.row,
            let presented = query.presented, row.parent == presented
        else { return }
        services.kept.keep(
            spool,
            PullQuery.Kept(
                vector: row.vector, session: row.session, generation: row.generation, replica: row.replica,
                delivery: plan.delivery),
            for: KeptSpools.Key(
                principal: query.principal, session: query.session, cursor: presented,
                schemaVersion: projection.schemaVersion),
            at: services.clock.now)
    }

    private mutating func fill(_ plan: PullAnswerPlan, _ spool: FinishedSpool?) {
        figures.cursor = plan.cursor.rawValue
        figures.replica = plan.row?.replica.description
        figures.restart = plan.restart?.rawValue
        switch plan.content {
        case .nothing: figures.mode = "idle"
        case .kept: figures.mode = "repeated"
        case .streamed: figures.mode = plan.delivery.rawValue
        }
        let counts = spool?.compaction.counts.values.map { $0 } ?? []
        figures.records = counts.reduce(0) { $0 + $1.upserts }
        figures.deletions = plan.delivery == .later ? counts.reduce(0) { $0 + $1.deletes } : 0
        figures.superseded = spool?.compaction.superseded ?? 0
        figures.lines = spooler.counts.lines
        figures.quarantined = spooler.counts.quarantined
        figures.repaired = spooler.defaulted
        figures.unknownTypes = spooler.counts.unknownTypes
        figures.backendBytes = spooler.counts.bytes
    }
}
