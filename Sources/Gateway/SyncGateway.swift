// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Backend
package import GatewayConfig
import Logging
package import StateStore
import SyncMachines
import SyncModel
package import WatermelonWire

/// The gateway without its HTTP: pulls and pushes of clients in, calls to the backend out.
package final class SyncGateway: Sendable {
    private let services: SyncServices

    /// A gateway over a state and a backend.
    ///
    /// - Parameters:
    ///   - configuration: What the operator wants.
    ///   - store: The state; closed by whoever opened it.
    ///   - backend: The backend.
    ///   - ports: What else it reaches outside.
    ///   - tuning: Sizes that nobody configures.
    package init(
        configuration: Configuration, store: any StateStore, backend: BackendClient, ports: GatewayPorts,
        tuning: GatewayTuning = GatewayTuning()
    ) {
        services = SyncServices(
            configuration: configuration, store: store, backend: backend, ports: ports, tuning: tuning)
    }

    /// The names and paths that clients use.
    package var dialect: WireDialect { services.dialect }

    /// How many bytes answers hold that are being made, sent or kept: in memory and on disk.
    package var spooled: (memory: Int, disk: Int) {
        let held = services.spools.held
        return (held.memory, held.disk)
    }

    /// Drops cached answers whose time is over, whether anybody pulls or not, until it is cancelled.
    package func dropExpired() async {
        let pause = min(max(services.configuration.pull.repeatWindow.milliseconds / 4, 1_000), 15_000)
        while !Task.isCancelled {
            services.kept.purge(at: services.clock.now)
            do { try await services.clock.sleep(milliseconds: pause) } catch { return }
        }
    }

    /// Refuses to begin where the clock is behind the newest cursor of the state by more than answers wait for.
    ///
    /// - Throws: ``PullFailure/clockBehind`` (finding 10), or what the state throws.
    package func checkClock() async throws {
        guard let newest = try await services.store.newestCursor() else { return }
        guard newest.rawValue - services.clock.now - services.store.cursorLead <= PullMachine.clockTolerance else {
            throw PullFailure.clockBehind
        }
    }

    /// Whether the state can be read and written.
    package func checkState() async throws {
        // Longer than a lock of another process is waited for, so that such a lock is told as what it is.
        try await services.store.checkWriting(within: services.configuration.state.busyTimeout + .seconds(1))
    }

    /// Makes sure that the backend has accepted the caller's credential within `[identity] auth_ttl`, where it can be
    /// asked.
    ///
    /// - Returns: The caller's principal.
    /// - Throws: What ``pull(_:caller:)`` throws for a caller that is not accepted.
    package func admit(_ caller: Caller) async throws -> String {
        let identity = try await services.identities.resolve(caller, at: services.clock.now)
        try await services.identities.verify(identity, at: services.clock.now)
        return identity.principal.rawValue
    }

    /// Serves one pull.
    ///
    /// - Returns: An answer that is committed already: its cursor may be seen.
    /// - Throws: Any error; `GatewayError(_:)` tells what the client hears of it. Nothing that a client could see has
    ///   changed then.
    package func pull(_ request: PullRequest, caller: Caller) async throws -> PullAnswer {
        let version = try effectiveVersion(request.schemaVersion)
        let identity = try await services.identities.resolve(caller, at: services.clock.now)
        try await applyScheduledRetries(identity, caller)
        var presented: Cursor?
        if case .cursor(let number) = request.lastPulledAt { presented = Cursor(rawValue: number) }
        var restarts = 0
        while true {
            // Outside the session's lock: to look for what a push has left open may need it.
            try await recoverPushes(identity, caller)
            do {
                return try await services.streaming(identity, from: presented) {
                    var runner = makeRunner(
                        request, from: presented, version: version, identity: identity, caller: caller)
                    return try await runner.run()
                }
            } catch StateError.idsChanged where restarts < Self.maximumRestarts {
                restarts += 1
                caller.logger.info("a pull begins anew, since ids that the backend has given became known")
            }
        }
    }

    /// How often a pull begins anew because the backend was giving ids to records meanwhile.
    private static let maximumRestarts = 2

    /// Serves one push.
    ///
    /// - Throws: Any error; `GatewayError(_:)` tells what the client hears of it.
    package func push(_ request: PushRequest, caller: Caller) async throws -> PushAnswer {
        _ = try effectiveVersion(request.schemaVersion)
        let identity = try await services.identities.resolve(caller, at: services.clock.now)
        return try await services.locks.withLock(pushLock(identity)) {
            let recovery = PushRecovery(
                services: services, identity: identity, logger: caller.logger, push: request)
            try await recovery.close()
            let retries = ScheduledRetries(services: services, identity: identity, logger: caller.logger)
            try await retries.apply(before: request.changes)
            // What that has left open is no other than what a push has.
            try await recovery.close()
            var runner = PushRunner(
                services: services, request: request, identity: identity, logger: caller.logger)
            return try await runner.run()
        }
    }

    private func pushLock(_ identity: CallerIdentity) -> String { "push:\(identity.principal.rawValue)" }

    /// Closes what pushes have left open before a pull, so that no record comes to its own device under another id.
    ///
    /// A push that runs and makes such records is waited for; where that takes too long, the pull must not go on.
    private func recoverPushes(_ identity: CallerIdentity, _ caller: Caller) async throws {
        let recovery = PushRecovery(services: services, identity: identity, logger: caller.logger)
        guard try await recovery.isNeeded else { return }
        try await services.locks.withLock(pushLock(identity)) { try await recovery.close() }
    }

    /// Applies what the operator has marked before a pull, so that the pull brings what came of it.
    ///
    /// Where that cannot be now, the pull goes on without: it has nothing to do with it, and the next request tries
    /// again.
    private func applyScheduledRetries(_ identity: CallerIdentity, _ caller: Caller) async throws {
        let retries = ScheduledRetries(services: services, identity: identity, logger: caller.logger)
        guard try await retries.areThere else { return }
        do {
            try await services.locks.withLock(pushLock(identity)) {
                // First: of a record whose creation is still open nobody knows how it has to be sent.
                try await PushRecovery(services: services, identity: identity, logger: caller.logger).close()
                try await retries.apply(before: nil)
            }
        } catch let error as LockError {
            caller.logger.notice("what was set aside is tried again later", metadata: ["because": "\(error)"])
        }
    }

    private func makeRunner(
        _ request: PullRequest, from presented: Cursor?, version: Int, identity: CallerIdentity, caller: Caller
    ) -> PullRunner {
        let key = CachedAnswers.Key(
            principal: identity.principal, session: identity.session, credential: identity.credential,
            cursor: presented, schemaVersion: version)
        let kept = services.kept.take(key, at: services.clock.now)
        let digests = services.mappings.digests(at: version)
        var random = services.random
        let query = PullQuery(
            principal: identity.principal, session: identity.session, presented: presented,
            isFirst: request.lastPulledAt == .never, schemaVersion: request.schemaVersion,
            asked: request.migration, schema: services.configuration.schema, effectiveVersion: version,
            mappingDigest: digests.all, tableDigests: digests.tables, newReplica: .random(using: &random),
            kept: kept?.stream)
        let scope = PullScope(
            services: services, query: query, identity: identity,
            projection: services.projections.projection(at: version), logger: caller.logger)
        return PullRunner(scope, kept: kept, cacheKey: key)
    }

    /// The version whose tables and columns the client gets: its own, the newest where it is newer or did not say.
    ///
    /// Of versions that see the same it is the first, so that what is made for each version is not made for every
    /// number that a client comes up with.
    private func effectiveVersion(_ told: Int?) throws -> Int {
        let schema = services.configuration.schema
        guard let told else { return services.versions.last ?? schema.version }
        guard told >= schema.oldest else {
            throw GatewayError(fault: .appTooOld, cause: "schema version \(told) is below \(schema.oldest)")
        }
        return services.versions.last { $0 <= told } ?? schema.oldest
    }
}
