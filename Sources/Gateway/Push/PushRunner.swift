// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

/// Runs the actions of one push: what the machine decides, this does.
struct PushRunner {
    let services: SyncServices
    let request: PushRequest
    let identity: CallerIdentity
    let logger: Logger

    var plan: PushPlan
    var reader: OperationReader
    /// What of the principal's is set aside already.
    var setAside: [PushedRecordKey: SetAsidePush.Kind] = [:]
    /// Why operations were refused, by their places.
    var refusals: [Int: RefusedPlace] = [:]
    /// Whether the push is the operator's retry of a record that was set aside, not a client's.
    let isRetry: Bool
    let presented: Cursor?
    /// The client database that pushes and the schema version that its pushes have shown before; nil where the cursor
    /// does not tell.
    private(set) var pusher: (replica: ReplicaID, version: Int?)?
    /// The presented cursor as the state knows it.
    private(set) var row: CursorRow?
    let digest: String
    /// The presented cursor, while it is to be confirmed once the backend has accepted the credential.
    var unconfirmed: Cursor?
    /// The notes of this push alone have greater sequences; nil while there are none.
    var notedAfter: Int64?
    var receipt: Receipt?
    var figures = SyncFigures()
    /// What the backend has of records in conflict, where the stream has told.
    var present: [PresentRecord] = []
    /// The places of the operations that the backend will never take, while the others go on.
    var rejected: Set<Int> = []
    /// The places of the operations that the backend has applied.
    var taken: Set<Int> = []
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
        self.isRetry = isRetry
        self.services = services
        self.request = request
        self.identity = identity
        self.logger = logger
        idempotencyKey = Self.newIdempotencyKey(services.random)
        let schema = services.configuration.schema
        let reader = OperationReader(
            schema: schema, changes: request.changes, depth: services.configuration.limits.jsonDepth,
            sendsChanged: services.configuration.push.send == .changed)
        self.reader = reader
        plan = PushPlan(changes: request.changes.tables, schema: schema) { reader.references(of: $0) }
        presented = request.lastPulledAt.flatMap { Cursor(rawValue: $0) }
        digest = services.digests.digits(
            .push,
            [
                Array(identity.principal.rawValue.utf8), Array(identity.credential.utf8),
                Array("\(request.lastPulledAt ?? 0)".utf8),
                request.changes.bytes,
            ])
        figures.mode = "push"
        figures.principal = identity.principal.description
        figures.presented = request.lastPulledAt
        figures.records = plan.operations.count { $0.kind != .delete }
        figures.deletions = plan.operations.count - figures.records
    }

    /// Runs the push to its end.
    mutating func run() async throws -> PushAnswer {
        guard request.lastPulledAt != nil || isRetry || services.configuration.push.withoutCursor == .accept else {
            throw GatewayError(
                status: 400, code: "push.without_cursor",
                message: "The push does not say what its device had seen. Send the lastPulledAt of pushChanges with it."
            )
        }
        try checkIDs()
        tellUnknown()
        try await loadSetAside()
        try await followDeletions()
        var machine = PushMachine(query: query)
        return try await drive(&machine, &self)
    }

    /// The push as the machine needs to know it; a retry of the operator's must not hold up the request that it is made
    /// with.
    private var query: PushMachine.Query {
        let (push, backend) = (services.configuration.push, services.configuration.backend)
        let rejection: PushMachine.Rejection =
            switch push.rejected {
            case .fail: .fail
            case .report: .report
            case .quarantine: .quarantine
            }
        return PushMachine.Query(
            presented: presented, hasToldTime: request.lastPulledAt != nil, operations: plan.operations.count,
            style: services.backend.settings.streamPush == nil ? .calls : .stream,
            notes: services.pullSettings.comparisons != nil,
            checks: request.lastPulledAt != nil && !isRetry && !checked.isEmpty,
            attempts: isRetry ? 0 : backend.resumeAttempts,
            backoff: backend.resumeBackoff.milliseconds,
            retryBudget: isRetry ? 0 : push.retryBudget.milliseconds, rejection: isRetry ? .fail : rejection,
            levels: plan.levels, parallel: push.parallel, batch: push.batch)
    }

    mutating func perform(_ action: PushAction) async throws -> PushEvent {
        let (store, clock) = (services.store, services.clock)
        switch action {
        case .loadContext:
            guard presented != nil else {
                try await loadIDs(nil)
                return .context(nil)
            }
            let context = try await store.pullContext(
                principal: identity.principal, session: identity.session, presented: presented)
            // A fork's replica is still to begin; the row's is another device.
            if let row = context.row, !context.isFork { pusher = (row.replica, context.pushedVersion) }
            row = context.row
            try await loadIDs(context.ledger)
            figures.replica = row?.replica.description
            return .context(context.row)
        case .confirm(let cursor):
            unconfirmed = cursor
            if isAccepted { try await confirm() }
        case .findReceipt: return .receipt(try await findReceipt())
        case .checkConflicts: return try await checkConflicts()
        case .verifyCredential: try await admit()
        case .noteSeen:
            try await admit()
            try await noteSeen()
        case .noteHeld: try await noteHeld(taken)
        case .beginJournal:
            try await admit()
            try await beginJournal()
        case .advance(let applied, let inFlight): try await advance(applied: applied, inFlight: inFlight)
        case .endJournal(let end): try await endJournal(end)
        case .scheduleRedelivery(let records):
            try await admit()
            await scheduleRedelivery(records)
        case .sendAll(let base, let without, let batch):
            // Of what is left out there is more with every request of a batch.
            var key = idempotencyKey
            if let batch { key += "-from-\(batch.lowerBound)" }
            if !without.isEmpty { key += "-\(without.count)" }
            return try await sendAll(base: base, without: without, batch: batch, idempotencyKey: key)
        case .send(let places): return await send(places)
        case .readClock: return .clock(clock.now)
        case .sleep(let milliseconds): try await clock.sleep(milliseconds: milliseconds)
        case .findRoom(let places): return .room(hasRoom(for: places))
        case .setAside(let places): try await setAside(places)
        case .saveReceipt:
            // Before it: once there is a receipt, nothing more happens when the client comes again.
            try await removeTaken()
            await saveReceipt()
        case .answer, .answerFromReceipt, .refuse, .fail, .rethrow:
            throw PushFailure.unexpectedEvent
        }
        return .done
    }

    /// Ids may be any text that a backend can hold; ones that clients could not get back stay with their device.
    private func checkIDs() throws {
        var unsafe = 0
        for operation in plan.operations {
            guard (1...RecordID.maximumLength).contains(operation.id.utf8.count) else {
                throw GatewayError(
                    status: 400, code: "request.record_id",
                    message: "A record has an id that is empty or longer than \(RecordID.maximumLength) bytes.",
                    details: [RecordList(table: reader.tableName(of: operation), ids: [ForeignText.cut(operation.id)])])
            }
            if !RecordID.isSafe(operation.id) { unsafe += 1 }
        }
        guard unsafe > 0 else { return }
        logger.warning(
            "records have ids that no other device can get",
            metadata: ["code": "push.unreachable_ids", "records": "\(unsafe)"])
    }

    private static func newIdempotencyKey(_ random: Randomness) -> String {
        (0..<2).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
