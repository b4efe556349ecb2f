// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

/// What every pull and push works with; made once from the configuration.
struct SyncServices: Sendable {
    let configuration: Configuration
    let store: any StateStore
    let backend: BackendClient
    let clock: any WallClock
    let identities: IdentityResolver
    let kept: KeptSpools
    let digests: KeyedDigest
    let dialect: WireDialect
    let pullSettings: PullSettings
    let projections: ProjectionCache
    /// A digest of all table mappings, for the cursor rows.
    let mappingDigest: String

    private let hashKey: SipHash.Key
    private let intakeLimits: StreamIntake.Limits
    private let spoolLimits: Spool.Limits

    init(
        configuration: Configuration, store: any StateStore, backend: BackendClient, clock: any WallClock,
        temporaryDirectory: String
    ) {
        self.configuration = configuration
        self.store = store
        self.backend = backend
        self.clock = clock
        digests = KeyedDigest(key: configuration.identity.key.bytes)
        identities = IdentityResolver(configuration: configuration, backend: backend, digests: digests)
        kept = KeptSpools(
            maximumBytes: configuration.limits.answersKept, window: configuration.pull.repeatWindow.milliseconds)
        dialect = configuration.dialect
        pullSettings = configuration.pullSettings
        projections = ProjectionCache(schema: configuration.schema, rules: configuration.envelopeRules)
        mappingDigest = digests.digits(
            .mapping,
            configuration.schema.tables.map { Array(Configuration.mappingDescription(of: $0).utf8) })
        let key = digests.derivedKey(.idHash)
        hashKey = SipHash.Key(key.0, key.1)
        intakeLimits = configuration.intakeLimits
        spoolLimits = Spool.Limits(
            directory: configuration.spool.dir ?? temporaryDirectory, memory: configuration.spool.memory,
            total: configuration.spool.max)
    }

    /// A spooler for one stream.
    func makeSpooler(_ projection: Projection) -> StreamSpooler {
        StreamSpooler(
            projection: projection, hashKey: hashKey, intakeLimits: intakeLimits, spoolLimits: spoolLimits)
    }
}
