// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Runs one push: does what its machines decide.
///
/// It holds what the state and the backend have answered; which operations were applied and which were refused is the
/// machine's alone.
struct PushRunner {
    var scope: PushScope
    /// The presented cursor as the state knows it.
    private(set) var row: CursorRow?
    /// Who pushes, as far as the cursor tells.
    private(set) var pusher: ShownVersion.Pusher?
    let digest: String
    var acceptance: Acceptance
    /// The notes of this push alone have greater sequences; nil while there are none.
    var notedAfter: Int64?
    private(set) var receipt: Receipt?
    /// What the backend has of records in conflict, where the stream has told.
    private(set) var present: [PresentRecord] = []
    /// Why operations were refused.
    var refusals = PushRefusals()
    /// Names the push, or its creations, to the backend; random for every request of a client, so that a push that is
    /// meant to be applied again is applied again, and the same for the gateway's own repetitions.
    let idempotencyKey: String
    /// The journal of a push by calls, once it is open.
    var journal: PushRunnerJournal?
    /// What a call has failed with.
    var failure: (any Error)?
    /// Why an operation was put off last, or nobody knows what became of it.
    var lastTrouble: String?
    /// When the backend that puts the push off wants to be asked again.
    var retryAfter: Duration?

    init(
        services: SyncServices, request: PushRequest, identity: CallerIdentity, logger: Logger, isRetry: Bool = false
    ) {
        scope = PushScope(
            services: services, request: request, identity: identity, logger: logger, isRetry: isRetry)
        acceptance = Acceptance(identity, services)
        idempotencyKey = Self.newIdempotencyKey(services.random)
        digest = services.digests.digits(
            .push,
            [
                Array(identity.principal.rawValue.utf8), Array(identity.credential.utf8),
                Array("\(request.lastPulledAt ?? 0)".utf8),
                request.changes.bytes,
            ])
    }

    var services: SyncServices { scope.services }
    var identity: CallerIdentity { scope.identity }
    var logger: Logger { scope.logger }
    var operations: [PushOperation] { scope.plan.operations }
    var notes: PushNotes { PushNotes(scope, replica: row?.replica) }
    var quarantine: PushQuarantine { PushQuarantine(scope: scope) }
    /// Says in the log whose request it speaks for.
    var backend: BackendClient {
        var backend = services.backend
        backend.logger = logger
        return backend
    }

    /// Runs the push to its end.
    mutating func run() async throws -> PushAnswer {
        scope = try await PushPreparation.prepare(scope)
        var machine = PushMachine(query: query)
        return try await drive(&machine, &self)
    }

    /// The push as the machine needs to know it; a retry of the operator's must not hold up the request that it is made
    /// with.
    private var query: PushMachine.Query {
        let (push, backend, hasToldTime) = (
            scope.settings, services.configuration.backend, scope.request.lastPulledAt != nil
        )
        let rejection: PushMachine.Rejection =
            switch push.rejected {
            case .fail: .fail
            case .report: .report
            case .quarantine: .quarantine
            }
        return PushMachine.Query(
            presented: scope.presented, hasToldTime: hasToldTime, operations: operations.count,
            style: services.backend.settings.streamPush == nil ? .calls : .stream,
            notes: services.pullSettings.comparisons != nil,
            checks: hasToldTime && !scope.isRetry && !ConflictSearch.places(in: scope).isEmpty,
            attempts: scope.isRetry ? 0 : backend.resumeAttempts,
            backoff: backend.resumeBackoff.milliseconds,
            retryBudget: scope.isRetry ? 0 : push.retryBudget.milliseconds,
            rejection: scope.isRetry ? .fail : rejection, levels: scope.plan.levels, parallel: push.parallel,
            batch: push.batch)
    }

    private static func newIdempotencyKey(_ random: Randomness) -> String {
        (0..<2).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

// What is asked before anything is sent.
extension PushRunner {
    /// Loads what the state has of the presented cursor.
    mutating func loadContext() async throws -> CursorRow? {
        guard let presented = scope.presented else {
            scope.reader.ids = try await PushedIDs.load(for: scope, outline: nil)
            return nil
        }
        let context = try await scope.store.pullContext(
            principal: scope.principal, session: identity.session, presented: presented)
        // A fork's replica is still to begin; the row's is another device.
        if let row = context.row, !context.isFork { pusher = (row.replica, context.pushedVersion) }
        row = context.row
        acceptance.vector = row?.vector
        scope.reader.ids = try await PushedIDs.load(for: scope, outline: context.ledger)
        scope.figures.replica = row?.replica.description
        return row
    }

    /// Looks for the receipt of the very same push, with the very same credential.
    ///
    /// It is the gateway's own word: the credential may have been revoked since, or be somebody else's, so the backend
    /// is asked whatever it has said a moment ago.
    mutating func findReceipt() async throws -> Bool {
        receipt = try await scope.store.receipt(principal: scope.principal, digest: digest, at: scope.now)
        guard receipt != nil else { return false }
        try await acceptance.obtainAnew()
        return true
    }

    /// Asks the stream for conflicts.
    mutating func checkConflicts() async throws -> PushEvent {
        // Without a row there is nothing to go on from, and nothing to ask.
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

    private mutating func outdated(_ reason: PullRestart) async throws -> PushEvent {
        try await acceptance.obtain()
        logger.notice("a push has to wait for a pull", metadata: ["because": "\(reason.rawValue)"])
        return .refused(PushRefusal(kind: .outdated, records: []))
    }
}
