// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import Deduplication
import GatewayConfig
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Holds what all pulls and pushes work with; made anew for each configuration, with what outlives it.
///
/// A class, since every part of a sync holds it: a copy counts one reference, not thirty.
final class SyncServices: Sendable {
    let lasting: LastingServices
    let configuration: Configuration
    /// The number of the configuration: its cached answers are of no use to another one.
    let configurationNumber: Int
    var store: Accounts { lasting.store }
    let backend: BackendClient
    var clock: any WallClock { lasting.ports.clock }
    var random: Randomness { lasting.ports.random }
    var tuning: GatewayTuning { lasting.tuning }
    let identities: IdentityResolver
    /// Verifies tokens; nil if the configuration does not want that.
    let tokens: TokenKeys?
    var cachedAnswers: CachedAnswers { lasting.cachedAnswers }
    /// The budget of all spools: of running pulls, of answers that are being sent, and of cached ones.
    var spools: SpoolBudget { lasting.spools }
    let digests: KeyedDigest
    let dialect: WireDialect
    let pullSettings: PullSettings
    let projections: VersionCache<Projection>
    /// The parts of queries that depend on the schema version alone: without caller, cursor and replica.
    let queries: VersionCache<PullQuery>
    /// The schema versions at which the clients' view changes.
    let versions: [Int]

    /// The key under which ids are hashed.
    let hashKey: SipHash.Key
    /// The pulls that compare a whole request type although nothing demands it.
    var comparing: Occupancy { lasting.comparing }
    /// Limits the syncs of each user, in all scopes together; nil for no limit.
    let rates: RateLimiter<Principal>?
    /// The pulls and checks that hold memory for a stream.
    var running: FairPermits { lasting.running }
    /// The ids that the backend has given to the principals that called last, and the creates that are still running.
    let ids: IDCache
    var making: IDMaking { lasting.making }
    /// Decides when the problems of columns are reported.
    var values: ValueWatch { lasting.values }
    /// True if the backend gives ids in any table.
    let makesIDs: Bool
    /// The sessions whose checkpoints the backend does not find.
    var ackRefusals: AckRefusals { lasting.ackRefusals }
    /// The credentials under which positions were stored; nil if each credential is a session of its own.
    var positionHolders: PositionHolders? {
        configuration.identity.session == nil ? nil : lasting.positionHolders
    }
    /// The locks of work that must not run at the same time.
    var locks: LockTable { lasting.locks }
    /// The leases of principals.
    var leases: Leases { lasting.leases }
    /// The journals of the running pushes.
    var journals: RunningJournals { lasting.journals }

    private let intakeLimits: StreamIntake.Limits
    private let spoolLimits: Spool.Limits

    /// Creates the services of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The operator's configuration.
    ///   - backend: The backend of the configuration.
    ///   - lasting: What outlives it.
    ///   - tokens: Verifies tokens; nil if the configuration does not want that.
    ///   - previous: The services of the configuration before; nil at the start.
    init(
        configuration: Configuration, backend: BackendClient, lasting: LastingServices, tokens: TokenKeys?,
        after previous: SyncServices?
    ) {
        self.tokens = tokens
        self.lasting = lasting
        self.configuration = configuration
        self.backend = backend
        configurationNumber = lasting.nextConfiguration()
        digests = KeyedDigest(key: configuration.identity.key.bytes)
        identities = IdentityResolver(
            configuration: configuration, backend: backend, digests: digests,
            known: previous?.acceptedCredentials(for: configuration), tokens: tokens)
        dialect = configuration.dialect
        pullSettings = configuration.pullSettings
        let (schema, rules) = (configuration.schema, configuration.envelopeRules)
        projections = VersionCache { Projection(schema: schema, schemaVersion: $0, rules: rules) }
        queries = VersionCache { [digests] version in
            let mappings = MappingDigests(schema, at: version, digests)
            return PullQuery(
                principal: Principal(rawValue: ""), session: Session(rawValue: ""), presented: nil, schemaVersion: nil,
                schema: schema, effectiveVersion: version, mappingDigest: mappings.all, tableDigests: mappings.tables,
                newReplica: ReplicaID(rawValue: 0))
        }
        versions = configuration.schema.versions
        hashKey = digests.hashKey
        rates = RateLimiter(
            perMinute: configuration.limits.principalRate, burst: configuration.limits.principalBurst,
            random: lasting.ports.random)
        ids = IDCache(
            store: lasting.store, schema: configuration.schema, key: digests.hashKey,
            maximumBytes: MemoryNeed.caches(configuration).ids)
        makesIDs = configuration.schema.tables.contains { $0.hasOwnIDs }
        var intakeLimits = configuration.intakeLimits
        intakeLimits.run = lasting.tuning.runEntries
        self.intakeLimits = intakeLimits
        spoolLimits = Spool.Limits(
            files: lasting.ports.files, memory: configuration.spool.memory, total: configuration.spool.max)
    }

    /// Returns the credentials that the backend has accepted, if this still says something under another configuration.
    private func acceptedCredentials(for next: Configuration) -> AcceptedCredentials? {
        let isSame =
            next.identity == configuration.identity && next.backend == configuration.backend
            && next.wire == configuration.wire
        return isSame ? identities.known : nil
    }

    /// Returns a session as it counts for a caller: without a position that another credential has stored.
    func session(_ row: SessionRow, for identity: CallerIdentity) -> SessionRow {
        guard let positionHolders else { return row }
        // With other gateways it is unknown which credential has stored it.
        if !leases.areNeeded, positionHolders.isHeld(by: identity) { return row }
        var row = row
        row.position = .unknown
        return row
    }

    /// Runs a stream from the backend: alone if others would interfere, and with one of the permits for streams.
    ///
    /// If the backend keeps the checkpoints, only one stream of a session runs at a time; if they travel in the
    /// request, only one pull with the same cursor.
    func streaming<R>(
        _ identity: CallerIdentity, from presented: Cursor?, _ body: () async throws -> R
    ) async throws -> R {
        let key =
            switch pullSettings.style {
            case .server: Optional("session:\(identity.principal.rawValue):\(identity.session.rawValue)")
            case .request: presented.map { "cursor:\(identity.principal.rawValue):\($0)" }
            }
        guard let key else { return try await withPermit(identity.principal.user, body) }
        return try await locks.withLock(key) { try await withPermit(identity.principal.user, body) }
    }

    /// True if two pulls or a pull and a push of one principal must not run at the same time on different gateways: the
    /// backend keeps one position for them, or gives ids that the other gateway does not know yet.
    var pullsNeedLease: Bool { leases.areNeeded && (pullSettings.style == .server || makesIDs) }

    /// Runs `body` while no other push of the principal runs, nor any pull that needs a lease: in this process, and on
    /// any other gateway on the state.
    ///
    /// - Parameters:
    ///   - identity: The caller.
    ///   - cursor: The cursor whose context is read.
    ///   - records: The records that are to be pushed.
    ///   - waits: False if a lease that another gateway holds is not waited for.
    ///   - logger: The request's logger.
    ///   - body: Gets what the state knew when it began.
    /// - Returns: The result of `body`.
    /// - Throws: ``LockError`` if the lock or the lease was not acquired, otherwise the errors of `body`.
    func exclusively<R>(
        _ identity: CallerIdentity, presenting cursor: Cursor?, pushing records: [PushedRecordKey] = [],
        waits: Bool = true, logger: Logger,
        _ body: (StoredPullContext) async throws -> R
    ) async throws -> R {
        // Nothing is written for a stranger, and a lease is a row.
        if leases.areNeeded { try await identities.verify(identity, at: clock.now) }
        return try await locks.withLock("principal:\(identity.principal.rawValue)") {
            guard !leases.areNeeded else {
                return try await leases.withLease(
                    of: identity, presenting: cursor, pushing: records, waits: waits, logger: logger, body)
            }
            return try await body(
                store.read(identity.principal) {
                    try ContextRule.context(of: &$0, session: identity.session, presented: cursor)
                })
        }
    }

    /// Returns the records of a push that have notes, unless they are so many that another read does not matter.
    func noted(_ push: PushRequest) -> [PushedRecordKey] {
        guard pullSettings.keepsLedgers, push.changes.recordCount <= 500 else { return [] }
        return push.changes.tables.flatMap { table in
            let ids = table.created.map(\.id) + table.updated.map(\.id) + table.deleted
            return ids.filter(RecordID.isSafe).map { PushedRecordKey(table: table.name, id: $0) }
        }
    }

    /// Returns what records which devices of a principal do not get on, with the logger of a request.
    func watch(_ principal: Principal, logging logger: Logger) -> DeviceWatch {
        DeviceWatch(
            store: store, principal: principal, rule: configuration.admin.stuckRule, logger: logger)
    }

    /// Returns the backend's client with the logger of a request.
    func backend(logging logger: Logger) -> BackendClient {
        var client = backend
        client.logger = logger
        return client
    }

    /// Runs `body` with a permit.
    ///
    /// Permits are taken under the lock only: a stalled session must not use up those of all others.
    private func withPermit<R>(_ user: Principal, _ body: () async throws -> R) async throws -> R {
        try running.enter(user)
        defer { running.leave(user) }
        return try await body()
    }

    /// Creates a spooler for one stream to a principal; `added` has the columns that the client has only just got.
    func makeSpooler(
        _ projection: Projection, for principal: Principal, added: [String: Set<String>] = [:],
        aliases: IDAliases? = nil
    ) -> StreamSpooler {
        let tables =
            !pullSettings.keepsLedgers ? [] : projection.schema.tables.enumerated().filter(\.element.isLedgered)
        return StreamSpooler(
            projection: projection, hashKey: hashKey, intakeLimits: intakeLimits, spoolLimits: spoolLimits,
            lease: { [spools] in spools.lease(for: principal.user) }, ledgered: Set(tables.map(\.offset)), added: added,
            aliases: aliases)
    }
}
