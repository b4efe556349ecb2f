// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import Deduplication
import LineProjection
import Logging
import NIOCore
import StateStore
import SyncMachines
import SyncModel
import Telemetry

/// Carries out the decisions of a stream machine: brings the backend to a vector, and streams into a spool.
struct StreamRunner {
    let scope: PullScope
    var acceptance: Acceptance
    var spooler: StreamSpooler
    /// The search for creations that reads the lines as well, during a push recovery.
    var creations: CreationSearch?
    /// The cached answer of an earlier pull with the same cursor; nil for a check.
    let cached: CachedAnswers.Entry?
    /// The part of the counts that comes from the cached answer.
    private(set) var taken = StreamIntake.Counts()
    /// The number of times that the stream broke.
    private(set) var breaks = 0
    /// True if the spooler may hold lines.
    private var hasStreamed = false
    /// True if the last stream broke without having brought a line.
    private var avoidsCompression = false
    /// The number of lines that had been received when the last stream request was made.
    private var linesBefore = 0
    private var aliases: IDAliases?
    /// The last move of the principal's sessions that this sync knows of; nil before it has read any.
    private var lastMove: Int64?
    /// True if this sync has stored the position as unknown since it last stored a known one.
    private var hasNotedMove = false
    /// True if a known position is stored with the pull's last write, and a cursor confirmed with an earlier one.
    ///
    /// Under a lease only: without one another sync may mark it as unknown meanwhile. A pull that fails leaves it
    /// unknown, and the next one asks the backend.
    var defersPosition = false { didSet { acceptance.defersConfirmation = defersPosition } }
    /// The position to store with that write; the state has it as unknown.
    private(set) var deferredPosition: CheckpointVector?
    /// The time of the session's last acceptance that the state has, or gets with the pull's last write; nil if
    /// unknown.
    private var lastAccepted: Instant?
    /// The time of an acceptance to store with the pull's last write; a check stores it at once.
    private(set) var deferredAcceptance: Instant?
    /// The request types that were logged as refused; nil for a check, which logs them itself.
    var loggedRefused: Set<String>?
    /// True for a check before a push, which ends without a write of its own.
    private let isCheck: Bool

    /// The error of an ack call itself, and not of what comes before it: when the credential is tried, the backend may
    /// refuse that, too.
    private struct AckCallError: Error {
        let cause: BackendError
    }

    init(_ scope: PullScope, cached: CachedAnswers.Entry? = nil, isCheck: Bool = false) {
        self.scope = scope
        self.cached = cached
        self.isCheck = isCheck
        loggedRefused = isCheck ? nil : []
        acceptance = Acceptance(scope.identity, scope.services)
        spooler = scope.services.makeSpooler(scope.projection, for: scope.query.principal)
    }

    /// Takes the vector, the moments and the ids of the device before anything is streamed.
    mutating func takeOver(_ device: DeviceState) {
        acceptance.vector = device.row?.vector
        (lastAccepted, lastMove) = (device.lastAccepted, device.lastMove)
        guard let aliases = device.aliases else { return }
        self.aliases = aliases
        spooler = scope.services.makeSpooler(scope.projection, for: scope.query.principal, aliases: aliases)
    }

    /// Performs an action, and returns the event that follows; ``event(for:of:reading:)`` has the events of errors.
    ///
    /// A new spool needs to know the columns that the client has only just got, by table.
    mutating func perform(
        _ action: StreamAction, adding added: [String: Set<String>] = [:]
    ) async throws -> StreamEvent {
        switch action {
        case .storePosition(let position):
            if defersPosition {
                deferredPosition = position.vector
                // It is there already.
                if position != .unknown || hasNotedMove { return .done }
            }
            try await store(position)
            scope.services.positionHolders?.note(scope.identity)
        case .listCheckpoints:
            let held = try await scope.backend.list(scope.identity.forwarded)
            try await acceptance.accepted(isLast: false)
            return .listed(held)
        case .forget(let namespaces):
            try await noteMove()
            try await LeaseKeeper.assure()
            try await call { backend, credentials throws(BackendError) in
                try await backend.forget(namespaces: namespaces, credentials)
            }
            try await acceptance.accepted()
        case .forgetAll:
            try await noteMove()
            try await LeaseKeeper.assure()
            try await scope.backend.forgetAll(scope.identity.forwarded)
            try await acceptance.accepted()
        case .acknowledge(let tokens):
            try await noteMove()
            for batch in scope.backend.ackBatches(of: tokens) {
                try await LeaseKeeper.assure()
                try await call { backend, credentials throws(BackendError) in
                    try await backend.acknowledge(batch, credentials)
                }
            }
            scope.services.ackRefusals.forget(session)
            try await acceptance.accepted()
        case .raiseGeneration:
            deferredPosition = nil
            let generation = try await scope.change {
                try SessionRules.raiseGeneration(of: scope.query.session, at: scope.now, in: &$0)
            }
            scope.logger.notice("the backend demands a reset", metadata: ["generation": "\(generation)"])
            return .generationRaised(generation)
        case .acknowledgeReset(let token):
            try await LeaseKeeper.assure()
            try await scope.backend.acknowledge([token], scope.identity.forwarded)
        case .takeCached: try await takeCached()
        case .open(let types, let vector, let afresh):
            return try await stream(types, from: vector, afresh: afresh, adding: added)
        case .sleep(let milliseconds): try await scope.services.clock.sleep(milliseconds: milliseconds)
        }
        return .done
    }

    /// Stores the position of a pull that commits nothing.
    mutating func storeDeferredPosition() async throws {
        if let position = deferredPosition.take() { try await store(.at(position)) }
    }

    /// Stores the acceptance of a pull that commits nothing, or has failed.
    mutating func storeDeferredAcceptance() async throws {
        guard let accepted = deferredAcceptance.take() else { return }
        try await scope.change { try SessionRules.markAccepted(scope.query.session, at: accepted, in: &$0) }
    }

    /// Notes that the backend has accepted the session's credential, unless the state has it of a moment ago.
    private mutating func noteAcceptance() async throws {
        let now = scope.now
        // The store would find the same; asking it costs a read.
        if let last = lastAccepted, !scope.store.limits.isAcceptanceDue(now, after: last) { return }
        (lastAccepted, deferredAcceptance) = (now, now)
        if isCheck { try await storeDeferredAcceptance() }
    }

    /// Marks the positions of the principal's sessions as unknown, since they may be the same session at the backend;
    /// writes nothing if they are marked already.
    private mutating func noteMove() async throws {
        deferredPosition = nil
        // Under a lease no other sync stores a position meanwhile, so once is enough.
        if hasNotedMove, LeaseKeeper.current != nil { return try await acceptance.obtain() }
        try await store(.unknown)
    }

    private mutating func store(_ position: Position) async throws {
        let cursor = try await acceptance.obtainToConfirm()
        let (now, last) = (scope.now, lastMove)
        lastMove = try await scope.change { account in
            let replica = try cursor.map { try ReplicaRules.confirm($0, at: now, in: &account) }
            return try SessionRules.setPosition(
                position, of: scope.query.session, syncing: replica, after: last, at: now, in: &account)
        }
        hasNotedMove = position == .unknown
    }

    /// Makes an ack call.
    private func call(
        _ body: (BackendClient, ForwardedCredentials) async throws(BackendError) -> Void
    ) async throws(AckCallError) {
        do throws(BackendError) {
            try await body(scope.backend, scope.identity.forwarded)
        } catch {
            throw AckCallError(cause: error)
        }
    }

    /// The session, as refusals of its tokens are noted.
    private var session: String { "\(scope.query.principal.rawValue):\(scope.query.session.rawValue)" }

    /// Goes on from the lines of an earlier pull: its answer may have got lost, and the lines need not be streamed
    /// again.
    private mutating func takeCached() async throws {
        guard let cached else { throw PullFailure.unexpectedEvent }
        try await scope.services.identities.verifyName(scope.identity, at: scope.now)
        spooler = cached.spooler
        hasStreamed = true
        try await spooler.takeUp(at: cached.length)
        taken = spooler.counts
    }

    /// Streams into the spool, up to a complete line or an interruption.
    private mutating func stream(
        _ types: [String], from vector: CheckpointVector, afresh: Bool, adding added: [String: Set<String>]
    ) async throws -> StreamEvent {
        if afresh, hasStreamed || !added.isEmpty {
            logFlaws()
            taken = StreamIntake.Counts()
            spooler = scope.services.makeSpooler(
                scope.projection, for: scope.query.principal, added: added, aliases: aliases)
        }
        hasStreamed = true
        spooler.beginRequest()
        creations?.beginRequest()
        linesBefore = spooler.counts.lines
        // A stream may move the backend's checkpoints, too (finding 6).
        try await LeaseKeeper.assure()
        let stream = try await openStream(types, from: vector)
        let timing = SyncTrace.begin(.stream)
        defer { timing.end() }
        logRefusedTypes(Set(scope.query.requestTypes).subtracting(types))
        try await acceptance.accepted()
        try await noteAcceptance()
        for try await buffer in stream {
            try await LeaseKeeper.assure()
            buffer.withUnsafeReadableBytes { creations?.feed($0) }
            try await spooler.take(buffer)
            if spooler.isEnded { break }
        }
        if !spooler.isEnded { logBrokenEnd() }
        return ended()
    }

    private func openStream(_ types: [String], from vector: CheckpointVector) async throws -> BackendStream {
        let timing = SyncTrace.begin(.backend)
        defer { timing.end() }
        return try await scope.backend.openStream(
            types: types, vector: vector, isCompressed: !avoidsCompression, scope.identity.forwarded)
    }

    /// Reports the stream request that has come to an end.
    private mutating func ended() -> StreamEvent {
        let report = spooler.report()
        if report.end == .broken {
            breaks += 1
            // Compression may have held lines back, together with the reason for the break.
            avoidsCompression = spooler.counts.lines == linesBefore
        }
        return .ended(report)
    }
}

// What errors mean.
extension StreamRunner {
    /// Returns the event for an error of an action; `reading` is how the machine reads a refusal of the stream request.
    ///
    /// - Throws: The error of the sync, if there is no event for it.
    mutating func event(
        for error: any Error, of action: StreamAction, reading: RefusalReading
    ) throws -> StreamEvent {
        switch (action, error) {
        case (.acknowledge, let error as AckCallError):
            guard let status = refusalOfTokens(error.cause) else { throw error.cause }
            logRefusedTokens(status: status)
            return .tokensRefused
        case (.forget(let namespaces), let error as AckCallError):
            guard case .refused(let status) = error.cause else { throw error.cause }
            logRefusedNames(namespaces, status: status)
            return .namespacesRefused
        case (.open, let error as BackendError) where error.isWorthResuming(hasLines: spooler.counts.lines > 0):
            scope.logger.notice("the backend's stream broke", metadata: ["code": "\(error.code)", "error": "\(error)"])
            return ended()
        case (.open, BackendError.typesRefused(let named)) where reading != .failure:
            return .typesRefused(named: named)
        case (.open, BackendError.refused(let status)) where reading.isAboutTypes(status: status):
            return .typesRefused(named: [])
        case (.open(_, let vector, _), BackendError.refused(let status))
        where scope.backend.settings.checkpoints == .request && !vector.isEmpty && reading.isAboutTokens(status: status):
            logRefusedRequest(status: status)
            return .tokensRefused
        default: throw error
        }
    }

    /// Returns the status with which the backend refuses tokens; nil if the error is not about them.
    ///
    /// A 404 may as well mean that the address is wrong, which is known once it is answered for new tokens, too.
    private func refusalOfTokens(_ error: BackendError) -> Int? {
        switch error {
        case .refused(let status): return status
        case .ackRefused(status: 404):
            let isWrongAddress = scope.services.ackRefusals.note(
                session, presented: scope.query.presented, at: scope.now + scope.store.cursorLead)
            return isWrongAddress ? nil : 404
        default: return nil
        }
    }
}
