// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Deduplication
import GatewayConfig
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Holds what all pulls and pushes work with; made once from the configuration.
///
/// A class, since every part of a sync holds it: a copy counts one reference, not thirty.
final class SyncServices: Sendable {
    let configuration: Configuration
    let store: any StateStore
    let backend: BackendClient
    let clock: any WallClock
    let random: Randomness
    let tuning: GatewayTuning
    let identities: IdentityResolver
    let cachedAnswers: CachedAnswers
    /// The budget of all spools: of running pulls, of answers that are being sent, and of cached ones.
    let spools: SpoolBudget
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
    let comparing: Occupancy
    /// The pulls and checks that hold memory for a stream.
    let running: FairPermits
    /// The ids that the backend has given to the principals that called last, and the creates that are still running.
    let ids: IDCache
    let making: IDMaking
    /// True if the backend gives ids in any table.
    let makesIDs: Bool
    /// The sessions whose checkpoints the backend does not find.
    let ackRefusals = AckRefusals()
    /// The locks of work that must not run at the same time.
    let locks: LockTable
    /// The journals of the running pushes.
    let journals = RunningJournals()

    private let intakeLimits: StreamIntake.Limits
    private let spoolLimits: Spool.Limits

    init(
        configuration: Configuration, store: any StateStore, backend: BackendClient, ports: GatewayPorts,
        tuning: GatewayTuning
    ) {
        self.tuning = tuning
        self.configuration = configuration
        self.store = store
        self.backend = backend
        clock = ports.clock
        random = ports.random
        making = IDMaking(clock: ports.clock)
        digests = KeyedDigest(key: configuration.identity.key.bytes)
        identities = IdentityResolver(configuration: configuration, backend: backend, digests: digests)
        cachedAnswers = CachedAnswers(
            maximumBytes: configuration.limits.answersKept, window: configuration.pull.repeatWindow.milliseconds)
        spools = SpoolBudget(memory: configuration.spool.memoryTotal, disk: configuration.spool.diskTotal) {
            [cachedAnswers] principal in cachedAnswers.dropOldest(of: principal)
        }
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
        comparing = Occupancy(maximum: max(1, configuration.ledger.resweepParallel))
        running = FairPermits(maximum: configuration.limits.pulls)
        locks = LockTable(
            maximumWaiting: configuration.limits.queue, timeout: configuration.limits.queueWait,
            clock: ports.clock)
        hashKey = digests.hashKey
        ids = IDCache(store: store, schema: configuration.schema, key: digests.hashKey)
        makesIDs = configuration.schema.tables.contains { $0.hasOwnIDs }
        var intakeLimits = configuration.intakeLimits
        intakeLimits.run = tuning.runEntries
        self.intakeLimits = intakeLimits
        spoolLimits = Spool.Limits(
            files: ports.files, memory: configuration.spool.memory, total: configuration.spool.max)
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
        guard let key else { return try await withPermit(identity.principal, body) }
        return try await locks.withLock(key) { try await withPermit(identity.principal, body) }
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
    private func withPermit<R>(_ principal: Principal, _ body: () async throws -> R) async throws -> R {
        try running.enter(principal)
        defer { running.leave(principal) }
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
            lease: { [spools] in spools.lease(for: principal) }, ledgered: Set(tables.map(\.offset)), added: added,
            aliases: aliases)
    }
}
