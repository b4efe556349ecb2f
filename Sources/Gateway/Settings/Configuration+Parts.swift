// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Backend
package import Curl
package import Deduplication
package import GatewayConfig
package import LineProjection
package import StateStore
package import SyncMachines
import SyncModel
package import WatermelonWire

// Converts the operator's configuration into the settings of the modules below.

extension Configuration {
    /// The names and paths that clients use.
    package var dialect: WireDialect {
        var dialect = WireDialect()
        dialect.lastPulledAtNames = wire.lastPulledAt
        dialect.schemaVersionNames = wire.schemaVersion
        if case .header(let name) = versionFrom { dialect.schemaVersionField = name }
        dialect.migrationNames = wire.migration
        dialect.changesNames = wire.changes
        dialect.bodyPath = wire.bodyPath
        dialect.pushTable = wire.pushTable
        dialect.timestampName = wire.timestamp
        dialect.wrap = wire.wrap
        dialect.syncPaths = [gateway.syncPath].compactMap { $0 }
        dialect.pullPaths = gateway.pullPath
        dialect.pushPaths = gateway.pushPath
        dialect.scope = scope
        dialect.limits.jsonDepth = limits.jsonDepth
        dialect.limits.records = push.maxRecords
        return dialect
    }

    /// The forwarded fields besides the credential, in lower case, that may affect which data the backend shows.
    package var contextHeaders: [String] {
        let others = Set(["authorization", "cookie"] + credentialHeaders).union(ForwardingRule.never)
            .union(backend.harmlessHeaders).union(Backend.alwaysHarmless)
        return backend.forwardHeaders.filter { !others.contains($0) }.sorted()
    }

    /// The rule for the fields of a client's request that are forwarded to the backend.
    package var forwardingRule: ForwardingRule {
        ForwardingRule(
            listed: ["authorization", "cookie"] + credentialHeaders + backend.forwardHeaders,
            identity: [identity.proxyField].compactMap { $0 })
    }

    /// The fields, in lower case, that carry a credential besides `authorization` and `cookie`.
    package var credentialHeaders: [String] { wire.tokenHeader + [identity.proxyField].compactMap { $0 } }

    /// The settings for decisions about pulls.
    package var pullSettings: PullSettings {
        PullSettings(
            style: backend.checkpoints, unknownCursor: pull.unknownCursor,
            completeNamespace: backend.completeType, resumeAttempts: backend.resumeAttempts,
            resumeBackoff: backend.resumeBackoff.milliseconds, comparisons: comparisons)
    }

    /// The schedule of full comparisons; nil if no table has a ledger.
    private var comparisons: ComparisonSchedule? {
        guard schema.tables.contains(where: \.isLedgered) else { return nil }
        return ComparisonSchedule(every: ledger.resweepEvery.milliseconds, maximumRows: ledger.resweepRows)
    }

    /// The format in which the backend wraps stream lines.
    package var envelopeRules: EnvelopeRules {
        var rules = EnvelopeRules()
        rules.typeField = backend.typeField
        rules.ackField = backend.ackField
        rules.dataField = backend.dataField
        rules.completeType = backend.completeType
        rules.resetType = backend.resetType
        rules.ackOnlyTypes = backend.ackTypes
        rules.idMap = backend.idMap.type.map { type in
            EnvelopeRules.IDMap(
                type: type, table: backend.idMap.table, client: backend.idMap.client, backend: backend.idMap.backend)
        }
        rules.depthLimit = limits.jsonDepth
        return rules
    }

    /// The limits of a stream.
    package var intakeLimits: StreamIntake.Limits {
        var intake = StreamIntake.Limits()
        intake.line = pull.maxLine
        intake.rows = pull.maxRows
        switch pull.quarantineKeep {
        case .no: intake.quarantineBytes = 0
        case .cut: intake.quarantineBytes = 1_024
        case .whole: intake.quarantineBytes = pull.maxLine
        }
        return intake
    }

    private static let longestCall = Duration.seconds(300)

    /// The settings of the backend's client.
    package var backendSettings: BackendSettings {
        var settings = BackendSettings(baseURL: backend.url.description, stream: backend.stream)
        settings.acknowledge = backend.ack
        settings.list = backend.list
        settings.forget = backend.forget
        settings.streamPush = push.path
        settings.checkpoints = backend.checkpoints
        settings.ackBatch = backend.ackBatch
        settings.ackField = backend.ackField
        settings.typeField = backend.typeField
        settings.maximumLineBytes = pull.maxLine
        let total = backend.totalTimeout == .zero ? nil : backend.totalTimeout
        settings.streamTimeouts = CurlTimeouts(
            connect: backend.connectTimeout, firstByte: backend.firstByteTimeout, idle: backend.idleTimeout,
            total: total)
        // Every other call is short; one that trickles would hold its session's lock.
        settings.callTimeouts = settings.streamTimeouts
        settings.callTimeouts.total = callTimeout
        return settings
    }

    /// The longest time that a call to the backend takes, except a stream.
    var callTimeout: Duration {
        backend.totalTimeout == .zero ? Self.longestCall : min(backend.totalTimeout, Self.longestCall)
    }

    /// The settings of the breaker that keeps calls from a backend that is down.
    package var breakerSettings: CircuitBreaker.Settings {
        CircuitBreaker.Settings(
            failures: backend.breakerFailures, openTime: backend.breakerOpen.milliseconds,
            trials: backend.breakerTrials)
    }

    /// The settings of the connections to the backend that syncs use.
    package var reactorSettings: CurlReactor.Settings {
        reactorSettings(connections: backend.maxConnections - (backend.passThrough ? backend.passThroughShare : 0))
    }

    /// The settings of the connections that pass-through requests use: separate ones, so that syncs lose none.
    package var passThroughReactorSettings: CurlReactor.Settings {
        let rest = backend.passThroughShare - tunnelLimit
        return reactorSettings(connections: rest - rest / 2)
    }

    /// The settings of the connections that long uploads use: half of what tunnels leave of the pass-through's.
    package var uploadReactorSettings: CurlReactor.Settings {
        reactorSettings(connections: (backend.passThroughShare - tunnelLimit) / 2)
    }

    /// The settings of the connections that tunnels use.
    package var tunnelReactorSettings: CurlReactor.Settings { reactorSettings(connections: tunnelLimit) }

    private func reactorSettings(connections: Int) -> CurlReactor.Settings {
        var settings = CurlReactor.Settings()
        settings.caFile = backend.caFile
        settings.clientCertificate = backend.clientCertificate
        settings.clientKey = backend.clientKey
        settings.maximumConnections = max(1, connections)
        return settings
    }

}

extension Configuration.Admin {
    /// The rule for devices that do not get on.
    package var stuckRule: StuckRule {
        StuckRule(repeats: stuckRepeats, pushes: stuckPushes, time: stuckAfter.milliseconds)
    }
}
