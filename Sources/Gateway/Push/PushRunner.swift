// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import Telemetry
import WatermelonWire

/// Runs one push: carries out what its machines decide.
///
/// It holds the answers of the state and the backend. Only the machine knows which operations were applied and which
/// were refused.
struct PushRunner {
    var scope: PushScope
    /// The presented cursor as the state knows it.
    private(set) var row: CursorRow?
    /// The replica that pushes, with the schema version of its earlier pushes; nil if the cursor does not identify it.
    private(set) var pusher: PushedVersion.Pusher?
    /// The ways in which it did not get on last.
    private var troubles: Set<DeviceTrouble.Kind> = []
    var receipts: PushReceipts
    var acceptance: Acceptance
    /// The sequence after which all notes are of this push; nil until the push has begun its notes.
    var notedAfter: Int64?
    /// The operations that the backend has and that are noted together with the receipt.
    var unwrittenHeld: Set<Int> = []
    /// The backend's present state of records in conflict, if the stream has it.
    private(set) var present: [PresentRecord] = []
    /// The reasons for which operations were refused.
    var refusals = PushRefusals()
    /// The key that identifies the push, or its creations, to the backend.
    ///
    /// Every request of a client gets a random one, so that a push that is repeated on purpose is applied again; the
    /// gateway's own repetitions reuse it.
    let idempotencyKey: String
    /// The journal of a push by calls, once it is open.
    var journal: PushRunnerJournal?
    /// The error of the last call that failed.
    var failure: (any Error)?
    /// The last reason why an operation was put off, or why its outcome is unknown.
    var lastTrouble: String?
    /// The error for which the push was put off, if possible one that says for how long.
    var delay: BackendError? {
        didSet { if let oldValue, oldValue.retryAfter != nil, delay?.retryAfter == nil { delay = oldValue } }
    }

    init(
        services: SyncServices, request: PushRequest, identity: CallerIdentity, logger: Logger, isRetry: Bool = false,
        known: StoredPullContext? = nil
    ) {
        scope = PushScope(
            services: services, request: request, identity: identity, logger: logger, isRetry: isRetry, known: known)
        acceptance = Acceptance(identity, services)
        idempotencyKey = Self.newIdempotencyKey(services.random)
        receipts = PushReceipts(scope)
    }

    var services: SyncServices { scope.services }
    var identity: CallerIdentity { scope.identity }
    var logger: Logger { scope.logger }
    var operations: [PushOperation] { scope.plan.operations }
    var notes: PushNotes { PushNotes(scope, replica: row?.replica) }
    var quarantine: PushQuarantine { PushQuarantine(scope: scope) }
    /// The backend's client, with the logger of this request.
    var backend: BackendClient { services.backend(logging: logger) }

    /// Runs the push to its end.
    mutating func run() async throws -> PushAnswer {
        do {
            scope = try await PushPreparation.prepare(scope)
            var machine = PushMachine(query: query)
            let answer = try await drive(&machine, &self)
            scope.reader.repaired.log(to: logger)
            if let pusher, troubles.contains(.push) { await watch.end([.push], of: pusher.replica) }
            return answer
        } catch {
            if let pusher, !scope.isRetry, acceptance.isGiven {
                await watch.failed(.push, of: pusher.replica, because: error, at: scope.now)
            }
            throw error
        }
    }

    private var watch: DeviceWatch { services.watch(identity.principal, logging: logger) }

    /// The push as the machine needs to know it; an operator's retry must not delay the request during which it runs.
    private var query: PushMachine.Query {
        let (push, backend, statesTime) = (
            scope.settings, services.configuration.backend, scope.request.lastPulledAt != nil
        )
        return PushMachine.Query(
            presented: scope.presented, statesTime: statesTime, operations: operations.count,
            style: services.backend.settings.streamPush == nil ? .calls : .stream,
            notes: services.pullSettings.keepsLedgers,
            checks: statesTime && !scope.isRetry && !ConflictSearch.indices(in: scope).isEmpty,
            attempts: scope.isRetry ? 0 : backend.resumeAttempts,
            backoff: backend.resumeBackoff.milliseconds,
            retryBudget: scope.isRetry ? 0 : push.retryBudget.milliseconds,
            rejection: scope.isRetry ? .fail : push.rejected, levels: scope.plan.levels, parallel: push.parallel,
            batch: push.batch)
    }

    private static func newIdempotencyKey(_ random: Randomness) -> String {
        (0..<2).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

// Lookups and checks before anything is sent.
extension PushRunner {
    /// Loads what the state knows about the presented cursor.
    mutating func loadContext() async throws -> CursorRow? {
        guard scope.presented != nil else {
            scope.reader.ids = try await PushedIDs.load(for: scope, outline: nil)
            scope.reader.defaulted = try await scope.defaulted(at: nil)
            return nil
        }
        let context = try await scope.context()
        // A fork's replica does not exist yet, and the row's replica is another device.
        if let row = context.row, !context.isFork { pusher = (row.replica, context.pushedVersion) }
        troubles = context.troubles
        row = context.row
        acceptance.vector = row?.vector
        scope.reader.ids = try await PushedIDs.load(for: scope, outline: context.ledger)
        scope.reader.defaulted = try await scope.defaulted(at: context)
        let replica = row?.replica.description
        scope.figures.replica = replica
        // A retry is of another push than the one that the log's line is about.
        if !scope.isRetry { SyncTrace.note { $0.subject.replica = replica } }
        return row
    }

    /// Asks the stream for conflicts.
    mutating func checkConflicts() async throws -> PushEvent {
        // Without a row, the stream has no position to start from.
        guard let row else { return try await outdated(.unknownCursor) }
        switch try await ConflictSearch(scope: scope, row: row).run() {
        case .outdated(let reason): return try await outdated(reason)
        case .compared(let conflicts, let present, let unreadable):
            self.present = present
            scope.figures.unseen = unreadable
            if unreadable > 0 {
                logger.warning(
                    "records are pushed over changes that could not be read",
                    metadata: ["code": "push.unseen_changes", "records": "\(unreadable)"])
            }
            return conflicts.isEmpty ? .checked : .refused(PushRefusal(kind: .conflict, records: conflicts))
        }
    }

    private mutating func outdated(_ reason: FullStreamReason) async throws -> PushEvent {
        try await acceptance.obtain()
        logger.notice("a push has to wait for a pull", metadata: ["because": "\(reason.rawValue)"])
        return .refused(PushRefusal(kind: .outdated, records: []))
    }
}
