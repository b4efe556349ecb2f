// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Deduplication
import Ledger
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel
import Telemetry
import WatermelonWire

/// The end of a pull that has not failed.
enum PullEnd {
    /// The answer, which is committed.
    case answer(PullAnswer)
    /// Ids became known meanwhile, and the pull has to start over; nothing has changed.
    case startOver
    /// Earlier pushes have left something to do first; nothing has changed.
    case heldUp(by: UnfinishedPushes)
}

/// Runs one pull: carries out the actions that the machine decides on.
struct PullRunner {
    let scope: PullScope
    let cacheKey: CachedAnswers.Key
    var stream: StreamRunner
    var device: DeviceState
    /// The result of the diff, once the lines are diffed.
    var diffed: DiffedPull?
    /// The figures of the stream and the ledgers, for the log.
    var figures = SyncFigures()
    /// The memory for sending the answer.
    private var sendingRoom: SpoolLease?
    /// The comparison of a whole type, while it runs.
    private(set) var comparison: RunningComparison?
    var comparisonFailure: (any Error)?
    /// The replica whose new cursor was committed, and the first syncs in a row if this is one.
    private var committed: (replica: ReplicaID, firstSyncs: FirstSyncs.Row?)?
    private var droppedComparison = ""
    /// True if the decision about the client's schema version was logged.
    private var hasLoggedSchema = false

    /// The possessions of a running comparison of a whole request type: one of the permits, and the lines of before.
    struct RunningComparison {
        /// The number of lines that had been received when it began; nil once everything is streamed from the
        /// beginning.
        var began: UInt64?
        /// The lines received by then, which the pull goes back to if the comparison fails.
        var before: (spooler: StreamSpooler, length: SpoolLength)?
    }

    init(_ scope: PullScope, cached: CachedAnswers.Entry?, cacheKey: CachedAnswers.Key) {
        self.scope = scope
        self.cacheKey = cacheKey
        stream = StreamRunner(scope, cached: cached)
        stream.defersPosition = LeaseKeeper.current != nil
        device = DeviceState(scope)
        figures.principal = scope.query.principal.description
        figures.presented = scope.query.presented?.rawValue
    }

    /// Runs the pull to its end.
    ///
    /// The reason of a failure is stored for the operator, about once a minute for each replica.
    mutating func run() async throws -> PullEnd {
        defer { stream.logFlaws() }
        do {
            let end = try await runMachine()
            if case .answer = end { await watchProgress() }
            return end
        } catch {
            keepAgain(after: error)
            // Otherwise a device whose pulls fail for months would seem to be gone.
            if committed == nil { try? await stream.storeDeferredAcceptance() }
            if let replica = device.row?.replica, !(error is CancellationError), error as? SpoolError != .cancelled,
                stream.acceptance.isGiven
            {
                let code = GatewayError(error).code
                try? await scope.change {
                    try ReplicaRules.touch(replica, result: "pull failed: \(code)", at: scope.now, in: &$0)
                }
                if !device.isFork { await watch.failed(.pull, of: replica, because: error, at: scope.now) }
            }
            throw error
        }
    }

    private var watch: DeviceWatch { scope.services.watch(scope.query.principal, logging: scope.logger) }

    /// Records if the device does not get on although it gets answers; writes nothing if it does.
    private func watchProgress() async {
        if let committed, let row = committed.firstSyncs {
            return await watch.began(committed.replica, row, at: scope.now)
        }
        guard scope.query.presented != nil, let row = device.row, !device.isFork else { return }
        await watch.pulled(
            row.replica, known: device.troubles, isRepeat: device.isBehind && committed != nil, at: scope.now)
    }

    private mutating func runMachine() async throws -> PullEnd {
        var machine = PullMachine(query: scope.query, settings: scope.services.pullSettings)
        defer { if comparison != nil { scope.services.comparing.leave() } }
        return try await drive(&machine, &self)
    }

    /// Loads what is known about the device.
    mutating func loadContext() async throws -> PullContext {
        var context = try await device.load()
        let replica = device.row?.replica.description
        SyncTrace.note { $0.subject.replica = replica }
        figures.ages = device.ages
        try await device.loadRedeliveries()
        stream.takeOver(device)
        context.redeliveries = device.redeliveries
        return context
    }

    mutating func perform(_ action: StreamAction, of machine: PullMachine) async throws -> StreamEvent {
        if case .open(_, _, let afresh) = action {
            logOnce(machine.negotiation)
            if afresh, comparison != nil { comparison = RunningComparison() }
        }
        return try await stream.perform(action, adding: machine.negotiation.change?.columns ?? [:])
    }

    /// Logs the negotiated schema version, once for each pull.
    private mutating func logOnce(_ decision: SchemaNegotiator.Decision) {
        guard !hasLoggedSchema else { return }
        hasLoggedSchema = true
        figures.dropped += decision.unknown.count
        if let change = decision.change { figures.migration = "\(change.from) to \(change.to)" }
        log(decision)
    }

    /// Commits the cursor row with what the diff has found.
    ///
    /// The refused request types are only for the operator. Some of the state's errors are events.
    mutating func commit(_ row: CursorRow, isNewReplica: Bool, without refused: Set<String>) async throws {
        // Before anything is written: an answer that cannot be sent should not begin.
        sendingRoom = try diffed?.spool.makeRoomToSend(scope.services.spools.lease(for: scope.query.principal.user))
        var row = row
        row.ids = device.ids
        var pull = PullCommit(
            row: row, replica: isNewReplica ? .new : .existing, quarantined: scope.quarantined(stream.spooler),
            result: resultText(without: refused), now: scope.now, ledger: diffed?.layer ?? LedgerCommit.none,
            ledgersRead: device.ledgersRead,
            delivered: row.replica == device.row?.replica ? diffed?.delivered ?? [] : [],
            position: stream.deferredPosition, acceptedAt: stream.deferredAcceptance,
            clientVersion: scope.query.schemaVersion)
        pull.isFirstSync = scope.query.presented == nil
        committed = (row.replica, try await scope.giveBackCommitting(pull))
        if let diffed { log(diffed.report, of: row.replica) }
    }

    /// Returns the replica's last action, as the operator sees it.
    private func resultText(without types: Set<String>) -> String {
        guard let spool = diffed?.spool else { return "pull" }
        let counts = AnswerArray.allCases.map { "\(spool.count($0)) \($0.rawValue)" }
        let refused = types.isEmpty ? "" : "without \(types.sorted().joined(separator: ", ")); "
        return "pull: " + refused + droppedComparison + counts.joined(separator: ", ")
    }
}

// The comparison of a whole request type, which may fail without failing the pull.
extension PullRunner {
    /// Takes a permit to compare a whole request type; returns false if too many pulls do so already.
    mutating func beginComparison(_ type: String) -> Bool {
        guard scope.services.comparing.tryEnter() else { return false }
        comparison = RunningComparison(
            began: UInt64(stream.spooler.counts.lines), before: (stream.spooler, stream.spooler.length))
        figures.comparison = type
        return true
    }

    /// Returns true if an error comes from the stream rather than from the state.
    static func isOfStream(_ error: any Error) -> Bool {
        error is BackendError || error is StreamIntake.Failure || error is SpoolError || error is DamagedRun
    }

    /// Goes back to the lines received before the comparison began.
    mutating func dropComparison(_ type: String, failures: Int) async throws {
        guard let before = comparison?.before else { throw PullFailure.unexpectedEvent }
        let error = GatewayError(comparisonFailure ?? PullFailure.streamBroken)
        scope.logger.error(
            "a type could not be compared, and the pull goes on without it",
            metadata: [
                "code": "ledger.sweep_failed", "type": "\(type)", "because": "\(error.code)",
                "error": "\(error.cause ?? "")", "failures": "\(failures)",
                "replica": "\(device.row?.replica.description ?? "")",
                "retry_after": "\(ComparisonSchedule.pause(after: failures) / 60_000) min",
            ])
        stream.logFlaws(since: before.spooler.flaws)
        stream.spooler = before.spooler
        try await stream.spooler.cut(to: before.length)
        figures.comparison = nil
        droppedComparison = "comparing \(type) failed (\(error.code)); "
        comparison = nil
        scope.services.comparing.leave()
    }
}

// An answer may get lost: its lines are cached, so that they need not be streamed again.
extension PullRunner {
    /// Caches the lines of a large answer for a repeat of the pull.
    func keep(_ answer: CachedAnswer?) {
        guard let answer, let lines = diffed?.lines, stream.spooler.counts.bytes >= scope.services.tuning.cachedBytes
        else { return }
        // The first answer is being read from the spool; lines that later pulls append are only their own.
        let length = SpoolLength(lines: stream.spooler.length.lines, runs: lines.length.runs)
        let room = scope.services.spools.lease(for: scope.query.principal.user)
        guard room.takeForLines(lines.spooler.byteCount) else { return }
        scope.services.cachedAnswers.keep(
            CachedAnswers.Entry(key: cacheKey, stream: answer, spooler: lines.spooler, length: length, room: room),
            at: scope.now)
    }

    /// Puts back the cached answer that this pull went on from, for the next attempt and without extending its life,
    /// unless it may have caused the failure.
    ///
    /// This is no step of the pull but a judgement of its error, after the machine has ended.
    private func keepAgain(after error: any Error) {
        guard let cached = stream.cached else { return }
        let isHarmless =
            switch error {
            case is CancellationError, SpoolError.cancelled, SpoolError.exhausted: true
            case let error as BackendError: error.isTransient
            case let failure as PullFailure: failure == .streamBroken || failure == .clockBehind
            default: false
            }
        if isHarmless { scope.services.cachedAnswers.putBack(cached, at: scope.now) }
    }
}

// The answer.
extension PullRunner {
    mutating func answer(_ plan: PullAnswerPlan, _ cached: CachedAnswer?) async throws -> PullAnswer {
        // A push may have left a receipt while this pull was streaming (finding 18). Without a lease one of another
        // gateway is not known and stays, which is right: this pull brings nothing.
        if plan.row == nil {
            try await stream.storeDeferredPosition()
            try await stream.storeDeferredAcceptance()
            try await scope.giveBackDroppingReceipts()
        }
        let spool = plan.content == .nothing ? nil : diffed?.spool
        guard plan.content == .nothing || spool != nil else { throw PullFailure.unexpectedEvent }
        if plan.content == .streamed { keep(cached) }
        fill(plan, spool)
        let projection = scope.projection
        let tables = projection.schema.tables.enumerated().filter { $0.element.since <= projection.schemaVersion }
        return PullAnswer(
            figures: figures, cursor: plan.cursor, strategy: AnswerWriter.Strategy(plan.replaced),
            tables: tables.map { ($0.offset, $0.element.name) }, spool: spool,
            room: sendingRoom, writer: AnswerWriter(dialect: scope.services.dialect), logger: scope.logger)
    }

    private mutating func fill(_ plan: PullAnswerPlan, _ spool: FinishedSpool?) {
        let (counts, taken) = (stream.spooler.counts, stream.taken)
        figures.cursor = plan.cursor.rawValue
        figures.replica = (plan.row ?? device.row)?.replica.description
        figures.restart = plan.restart?.rawValue
        if plan.restart == .tokensWentBack { scope.logSetBack() }
        switch plan.content {
        case .nothing: figures.mode = "idle"
        case .streamed: figures.mode = plan.delivery.rawValue
        }
        figures.records = spool.map { $0.count(.created) + $0.count(.updated) } ?? 0
        figures.deletions = spool?.count(.deleted) ?? 0
        figures.superseded = spool?.diffed.superseded ?? 0
        if plan.content != .streamed { figures.diffed = LedgerDiffFigures() }
        figures.resumes = stream.breaks
        figures.linesKept = taken.lines
        figures.lines = counts.lines - taken.lines
        figures.quarantined = counts.quarantined - taken.quarantined
        figures.note(stream.spooler.values(of: scope.schema).problems)
        figures.unknownTypes = counts.unknownTypes - taken.unknownTypes
        figures.backendBytes = counts.bytes - taken.bytes
        guard counts.unresolvedDeletes > 0 else { return }
        scope.logger.warning(
            "deletions by a column concern tables without a ledger: which records they mean is unknown",
            metadata: ["code": "ledger.unresolved_deletes", "lines": "\(counts.unresolvedDeletes)"])
    }
}

extension AnswerWriter.Strategy {
    /// Creates the strategy by which the client drops what a machine has decided.
    fileprivate init(_ replaced: PullAnswerPlan.Replaced) {
        self =
            switch replaced {
            case .nothing: .incremental
            case .everything: .replacement
            case .tables(let names): .replacementOf(names)
            }
    }
}
