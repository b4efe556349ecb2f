// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import Telemetry
import WatermelonWire

/// Holds what all parts of one push work with.
struct PushScope {
    let services: SyncServices
    let request: PushRequest
    let identity: CallerIdentity
    let logger: Logger
    /// True if the push is the operator's retry of a quarantined record, not a client's push.
    let isRetry: Bool
    let presented: Cursor?
    /// The state's knowledge when the push began, under the push lock; nil if other pushes of the principal have been
    /// dealt with since, so that it has to be asked again.
    let known: StoredPullContext?
    /// The operations; a prepared push also has the deletions of descendants.
    var plan: PushPlan
    var reader: OperationReader
    /// The principal's records that are in quarantine already.
    var quarantined: [PushedRecordKey: OperationKind] = [:]
    var figures = SyncFigures()

    init(
        services: SyncServices, request: PushRequest, identity: CallerIdentity, logger: Logger, isRetry: Bool = false,
        known: StoredPullContext? = nil
    ) {
        self.services = services
        self.known = known
        self.request = request
        self.identity = identity
        self.logger = logger
        self.isRetry = isRetry
        let schema = services.configuration.schema
        let reader = OperationReader(
            schema: schema, changes: request.changes, depth: services.configuration.limits.jsonDepth,
            sendsChanged: services.configuration.push.send == .changed)
        self.reader = reader
        plan = PushPlan(changes: request.changes.tables, schema: schema) { reader.references(of: $0) }
        presented = Self.presented(request)
        figures.mode = "push"
        figures.principal = identity.principal.description
        figures.presented = request.lastPulledAt
        figures.records = plan.operations.count { $0.kind != .delete }
        figures.deletions = plan.operations.count - figures.records
    }

    /// Returns the cursor that a push states.
    static func presented(_ request: PushRequest) -> Cursor? {
        request.lastPulledAt.flatMap { Cursor(rawValue: $0) }
    }

    /// Reads what the state knows about the caller.
    func read<T>(_ rule: (inout Account) throws -> T) async throws -> T {
        try await store.read(principal, rule)
    }

    /// Changes what the state knows about the caller.
    @discardableResult
    func change<T>(_ rule: (inout Account) throws -> T) async throws -> T {
        try await store.change(principal, rule)
    }

    /// Returns what the state knows about the presented cursor.
    func context() async throws -> StoredPullContext {
        if let known { return known }
        return try await read { try ContextRule.context(of: &$0, session: identity.session, presented: presented) }
    }

    /// Runs the last write of a client's push, which gives the lease back.
    ///
    /// A retry runs before a push or a pull, whose last write that is.
    func lastWrite(_ write: () async throws -> Void) async throws {
        if isRetry { try await write() } else { try await LeaseKeeper.givingBack(write) }
    }

    var settings: Configuration.Push { services.configuration.push }
    var schema: Schema { services.configuration.schema }
    var store: Accounts { services.store }
    var now: Instant { services.clock.now }
    var principal: Principal { identity.principal }

    /// Returns the key of an operation's record.
    func key(at index: Int) -> PushedRecordKey { reader.key(of: plan.operations[index]) }

    /// Returns an operation's record as an entry of a refusal.
    func record(
        at index: Int, _ message: String?, by call: Call? = nil, obstacle: PushRefusal.Obstacle? = nil
    ) -> PushRefusal.Record {
        let operation = plan.operations[index]
        return PushRefusal.Record(
            table: reader.tableName(of: operation), id: operation.id, message: message, call: call?.title, index: index,
            obstacle: obstacle)
    }

    /// Counts what was applied, for the metrics.
    func trace(_ taken: Set<Int>) {
        var tables: [String: SyncTrace.TableFigures] = [:]
        for index in taken {
            let operation = plan.operations[index]
            let table = reader.tableName(of: operation)
            if operation.kind == .delete {
                tables[table, default: .init()].deletions += 1
            } else {
                tables[table, default: .init()].rows += 1
                tables[table, default: .init()].bytes += operation.range?.count ?? 0
            }
        }
        SyncTrace.note { $0.tables = tables }
    }

    /// Splits these operations into those that are sent in one request, and those that never can be, with the reasons.
    func sendable(_ indices: [Int]) throws -> (indices: [Int], refused: [PushRefusal.Record]) {
        guard reader.ids.translates || indices.contains(where: { !RecordID.fits(plan.operations[$0].id) }) else {
            return (indices, [])
        }
        var (sent, refused) = ([Int](), [PushRefusal.Record]())
        for index in indices {
            switch try reader.content(of: plan.operations[index]).treatment {
            case .send: sent.append(index)
            case .nothing: break
            case .refuse(let message, let obstacle):
                refused.append(record(at: index, message, obstacle: obstacle))
            }
        }
        return (sent, refused)
    }
}
