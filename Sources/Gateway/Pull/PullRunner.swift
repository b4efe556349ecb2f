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
    /// What an earlier pull with the same cursor has streamed, and where this one puts what it has; nil for a check.
    let kept: CachedAnswers.Entry?
    let cacheKey: CachedAnswers.Key?

    var spooler: StreamSpooler
    /// What goes out of what was streamed, once it is diffed.
    var finished: FinishedSpool?
    /// The lines as they were diffed, if another pull may go on from their end.
    var diffedLines: (spooler: StreamSpooler, length: SpoolLength)?
    /// The memory for sending it.
    private var sendingRoom: SpoolLease?
    /// What the pull adds to the ledger, once it is diffed.
    var layer = LedgerCommit.none
    var diffReport: LedgerDiffReport?
    /// The ledgers that it was diffed against, and their versions.
    var ledgersRead: [ReplicaID: Int] = [:]
    /// The presented cursor as the state knows it, and the ledger as it sees it.
    private(set) var presentedRow: CursorRow?
    var outline: LedgerOutline?
    /// The presented cursor, while it is to be confirmed once the backend has accepted the credential.
    var unconfirmed: Cursor?
    /// The ledgers that were looked at last, and whether what cannot be read of them is passed over.
    var consulted: [LedgerOutline] = []
    var skipsDamage = false
    /// What has to be delivered again to the client, and what of it the answer brings.
    var redeliveries: [PendingRedelivery] = []
    var delivered: [PendingRedelivery] = []
    /// By which ids the device knows records to which the backend has given ids.
    var ids = VisibleIDs()
    var aliases: IDAliases?
    var knownIDs: PrincipalIDs?
    /// What the device may have under ids by which pulls do not call it any more, as of the presented cursor.
    var duplicates: [VisibleIDs.Kept] = []
    /// How many lines had come when the comparison of a whole type began.
    private(set) var comparisonBegan: UInt64?
    private var hasComparisonPermit = false
    /// What had come by then, to go back to where the comparison fails, and why it did.
    private var beforeComparison: (spooler: StreamSpooler, length: SpoolLength)?
    var comparisonFailure: (any Error)?
    private var droppedComparison = ""
    /// What was negotiated about the client's schema version, once it is known.
    var negotiation: SchemaNegotiator.Decision?
    var refusedTypes: Set<String> = []
    var toldRefused: Set<String> = []
    /// Whether the stream broke without having brought a line.
    private var avoidsCompression = false
    /// What of the counts an earlier pull has brought.
    var taken = StreamIntake.Counts()
    var figures = SyncFigures()
    /// Looks at the lines beside everything else, while a journal is closed.
    var creations: CreationSearch?

    init(
        services: SyncServices, query: PullQuery, identity: CallerIdentity, projection: Projection,
        kept: CachedAnswers.Entry? = nil, cacheKey: CachedAnswers.Key? = nil, logger: Logger
    ) {
        self.services = services
        self.query = query
        self.identity = identity
        self.projection = projection
        self.kept = kept
        self.cacheKey = cacheKey
        self.logger = logger
        spooler = services.makeSpooler(projection, for: query.principal)
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
    ///
    /// Why it failed is noted for the operator, about once a minute for each replica.
    mutating func run() async throws -> PullAnswer {
        defer { tellFlaws() }
        do {
            return try await runMachine()
        } catch {
            keepAgain(after: error)
            if let replica = presentedRow?.replica, !(error is CancellationError), error as? SpoolError != .cancelled,
                isAccepted
            {
                let code = GatewayError(error).code
                try? await services.store.touch(
                    replica: replica, result: "pull failed: \(code)", at: services.clock.now)
            }
            throw error
        }
    }

    private mutating func runMachine() async throws -> PullAnswer {
        var machine = PullMachine(query: query, settings: services.pullSettings)
        defer { if hasComparisonPermit { services.comparing.leave() } }
        return try await drive(&machine, &self)
    }

    /// Does a step of the stream.
    ///
    /// What the backend refuses while a whole type is compared is thrown: the comparison fails by it.
    mutating func perform(_ action: StreamAction, isComparing: Bool) async throws -> StreamEvent {
        switch action {
        case .storePosition(let position):
            try await admit()
            try await services.store.setPosition(
                position, principal: query.principal, session: query.session, at: services.clock.now)
        case .listCheckpoints:
            let held = try await backend.list(identity.forwarded)
            try await accepted()
            return .listed(held)
        case .forget(let namespaces): return try await forget(namespaces)
        case .forgetAll:
            try await noteMove()
            try await backend.forgetAll(identity.forwarded)
            try await accepted()
        case .acknowledge(let tokens): return try await acknowledge(tokens)
        case .raiseGeneration:
            let generation = try await services.store.raiseGeneration(
                principal: query.principal, session: query.session, at: services.clock.now)
            logger.notice("the backend demands a reset", metadata: ["generation": "\(generation)"])
            return .generationRaised(generation)
        case .acknowledgeReset(let token): try await backend.acknowledge([token], identity.forwarded)
        case .takeCached: try await takeCached()
        case .open(let types, let vector, let afresh):
            return try await open(types, from: vector, afresh: afresh, isComparing: isComparing)
        case .sleep(let milliseconds): try await services.clock.sleep(milliseconds: milliseconds)
        }
        return .done
    }

    /// Ends what is believed of the principal's other sessions, which may be the same one at the backend; writes
    /// nothing where that is noted already.
    private mutating func noteMove() async throws {
        try await admit()
        try await services.store.setPosition(
            .unknown, principal: query.principal, session: query.session, at: services.clock.now)
    }

    private mutating func acknowledge(_ tokens: [String]) async throws -> StreamEvent {
        try await noteMove()
        let session = "\(query.principal.rawValue):\(query.session.rawValue)"
        do {
            try await backend.acknowledge(tokens, identity.forwarded)
            services.ackRefusals.forget(session)
            try await accepted()
            return .done
        } catch BackendError.ackRefused(status: 404)
            where !services.ackRefusals.note(session, presented: query.presented, at: services.clock.now)
        {
            tellRefusedTokens(status: 404)
            return .tokensRefused
        } catch BackendError.refused(let status) {
            tellRefusedTokens(status: status)
            return .tokensRefused
        }
    }

    private mutating func forget(_ namespaces: [String]) async throws -> StreamEvent {
        try await noteMove()
        do {
            try await backend.forget(namespaces: namespaces, identity.forwarded)
            try await accepted()
            return .done
        } catch BackendError.refused(let status) {
            logger.notice(
                "the backend does not take the names of checkpoints that it holds: all are forgotten and set anew",
                metadata: ["status": "\(status)", "namespaces": "\(namespaces.prefix(20).joined(separator: " "))"])
            return .namespacesRefused
        }
    }

    mutating func loadContext() async throws -> SyncEngine.PullContext {
        let context = try await services.store.pullContext(
            principal: query.principal, session: query.session, presented: query.presented)
        if context.belongsToAnotherPrincipal {
            // The cursor is worth nothing here, but the operator may want to know (finding 26).
            logger.warning(
                "a cursor of another principal was presented: does the credential rotate?",
                metadata: ["code": "pull.foreign_cursor"])
        }
        presentedRow = context.row
        outline = context.ledger
        var ledger = try await ledgerContext(
            context.ledger, acceptedAt: context.acceptedAt, resyncAt: context.resyncAt)
        if let row = context.row, try await hasTooManyNotes(since: row, sequence: context.sequence) {
            ledger.isExact = false
        }
        if try await !loadIDs(upTo: context.idSequence) { ledger.isExact = false }
        var known = SyncEngine.PullContext(
            row: context.row, isFork: context.isFork,
            isNewestOfReplica: context.newestOfReplica == context.row?.cursor, newest: context.newest,
            session: context.session, sequence: context.sequence, hasLedgers: context.hasLedgers,
            ledger: ledger, pushedVersion: context.pushedVersion, now: services.clock.now)
        known.hasDuplicates = !duplicates.isEmpty
        known.ids = ids
        return known
    }

    /// Takes a place among the pulls that compare a whole request type, where there is one.
    mutating func beginComparison(_ type: String) -> Bool {
        hasComparisonPermit = services.comparing.tryEnter()
        guard hasComparisonPermit else { return false }
        comparisonBegan = UInt64(spooler.counts.lines)
        beforeComparison = (spooler, spooler.length)
        figures.comparison = type
        return true
    }

    /// Whether an error is about what a stream brings, rather than about the state.
    static func isOfStream(_ error: any Error) -> Bool {
        error is BackendError || error is StreamIntake.Failure || error is SpoolError || error is DamagedRun
    }

    /// Goes back to what had come when the comparison began.
    mutating func dropComparison(_ type: String, failures: Int) async throws {
        guard let before = beforeComparison.take() else { throw PullFailure.unexpectedEvent }
        let error = GatewayError(comparisonFailure ?? PullFailure.streamBroken)
        logger.error(
            "a type could not be compared, and the pull goes on without it",
            metadata: [
                "code": "ledger.sweep_failed", "type": "\(type)", "because": "\(error.code)",
                "error": "\(error.cause ?? "")", "failures": "\(failures)",
                "replica": "\(presentedRow?.replica.description ?? "")",
                "retry_after": "\(ComparisonSchedule.pause(after: failures) / 60_000) min",
            ])
        tellFlaws(since: before.spooler.flaws)
        spooler = before.spooler
        try await spooler.cut(to: before.length)
        comparisonBegan = nil
        figures.comparison = nil
        droppedComparison = "comparing \(type) failed (\(error.code)); "
        hasComparisonPermit = false
        services.comparing.leave()
    }

    /// Streams into the spool, to a complete line or to an interruption.
    private mutating func open(
        _ types: [String], from vector: CheckpointVector, afresh: Bool, isComparing: Bool
    ) async throws -> StreamEvent {
        do {
            return .ended(try await stream(types, from: vector, afresh: afresh))
        } catch BackendError.typesRefused(let named) where !isComparing {
            return .typesRefused(named: named)
        } catch BackendError.refused(status: 400) where !isComparing && types.count < query.requestTypes.count {
            // Once it has named some, a refusal that names none is about the same.
            return .typesRefused(named: [])
        }
    }

    private mutating func stream(
        _ types: [String], from vector: CheckpointVector, afresh: Bool
    ) async throws -> StreamReport {
        if afresh {
            tellFlaws()
            taken = StreamIntake.Counts()
            spooler = services.makeSpooler(
                projection, for: query.principal, added: negotiation?.change?.columns ?? [:], aliases: aliases)
            comparisonBegan = nil
            beforeComparison = nil
        }
        spooler.beginRequest()
        creations?.beginRequest()
        let before = spooler.counts.lines
        do {
            let stream = try await backend.openStream(
                types: types, vector: vector, isCompressed: !avoidsCompression, identity.forwarded)
            tellRefused()
            try await accepted()
            try await services.store.markAccepted(
                principal: query.principal, session: query.session, at: services.clock.now)
            for try await buffer in stream {
                buffer.withUnsafeReadableBytes { creations?.feed($0) }
                try await spooler.take(buffer)
                if spooler.isEnded { break }
            }
            if !spooler.isEnded { tellBrokenEnd() }
        } catch let error as BackendError where error.isWorthResuming {
            logger.notice("the backend's stream broke", metadata: ["code": "\(error.code)", "error": "\(error)"])
        }
        let report = spooler.report()
        if report.end == .broken {
            figures.resumes += 1
            // What was compressed may have been held back, together with the reason why it broke.
            avoidsCompression = spooler.counts.lines == before
        }
        return report
    }

    mutating func commit(_ row: CursorRow, isNewReplica: Bool) async throws -> PullEvent {
        try await awaitIDs()
        // Before anything is written: an answer that cannot be sent had better not begin.
        sendingRoom = try finished?.makeRoomToSend(services.spools.lease(for: query.principal))
        var row = row
        row.ids = ids
        do {
            try await services.store.commit(
                PullCommit(
                    row: row, replica: isNewReplica ? .new : .existing, quarantined: spooler.quarantined,
                    result: resultText, now: services.clock.now, ledger: layer, ledgersRead: ledgersRead,
                    delivered: row.replica == presentedRow?.replica ? delivered : [], clientVersion: query.schemaVersion
                ))
        } catch StateError.cursorTaken(let newest) {
            return .cursorTaken(newest: newest)
        }
        if let diffReport { tell(diffReport, of: row.replica) }
        return .done
    }

    /// What the replica "last did", for the operator.
    private var resultText: String {
        guard let finished else { return "pull" }
        let counts = AnswerArray.allCases.map { "\(finished.count($0)) \($0.rawValue)" }
        let refused = refusedTypes.isEmpty ? "" : "without \(refusedTypes.sorted().joined(separator: ", ")); "
        return "pull: " + refused + droppedComparison + counts.joined(separator: ", ")
    }

    mutating func answer(_ plan: PullAnswerPlan, _ stream: CachedAnswer?) async throws -> PullAnswer {
        // A push may have left one while this pull was streaming (finding 18); nothing is written where there is none.
        if plan.row == nil { try await services.store.dropReceipts(principal: query.principal) }
        let spool: FinishedSpool? =
            switch plan.content {
            case .nothing: nil
            case .streamed: finished
            }
        guard plan.content == .nothing || spool != nil else { throw PullFailure.unexpectedEvent }
        if plan.content == .streamed { keep(stream) }
        fill(plan, spool)
        let tables = projection.schema.tables.enumerated().filter { $0.element.since <= projection.schemaVersion }
        return PullAnswer(
            figures: figures, cursor: plan.cursor, strategy: strategy(plan),
            tables: tables.map { ($0.offset, $0.element.name) }, spool: spool,
            room: sendingRoom, writer: AnswerWriter(dialect: services.dialect))
    }

    /// How the client is to treat what the answer does not name.
    private func strategy(_ plan: PullAnswerPlan) -> AnswerWriter.Strategy {
        let replacesAll = plan.delivery == .replacement
        if replacesAll, refusedTypes.isEmpty { return .replacement }
        guard replacesAll || plan.replacesUnledgered else { return .incremental }
        // What the backend has not taken must not be replaced by nothing.
        let refused = Set(refusedTables)
        let tables = projection.schema.tables(at: projection.schemaVersion).filter { replacesAll || !$0.isLedgered }
        return .replacementOf(tables.map(\.name).filter { !refused.contains($0) })
    }

    private mutating func fill(_ plan: PullAnswerPlan, _ spool: FinishedSpool?) {
        figures.cursor = plan.cursor.rawValue
        figures.replica = (plan.row ?? presentedRow)?.replica.description
        figures.restart = plan.restart?.rawValue
        switch plan.content {
        case .nothing: figures.mode = "idle"
        case .streamed: figures.mode = plan.delivery.rawValue
        }
        figures.records = spool.map { $0.count(.created) + $0.count(.updated) } ?? 0
        figures.deletions = spool?.count(.deleted) ?? 0
        figures.superseded = spool?.diffed.superseded ?? 0
        if plan.content != .streamed { figures.diffed = LedgerDiffFigures() }
        figures.linesKept = taken.lines
        figures.lines = spooler.counts.lines - taken.lines
        figures.quarantined = spooler.counts.quarantined - taken.quarantined
        figures.repaired = spooler.defaulted
        figures.unknownTypes = spooler.counts.unknownTypes - taken.unknownTypes
        figures.backendBytes = spooler.counts.bytes - taken.bytes
        guard spooler.counts.unresolvedDeletes > 0 else { return }
        logger.warning(
            "deletions by a column concern tables without a ledger, where nobody knows which records they mean",
            metadata: ["code": "ledger.unresolved_deletes", "lines": "\(spooler.counts.unresolvedDeletes)"])
    }
}
