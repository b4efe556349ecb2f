// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Accounts
package import Backend
package import GatewayConfig
import Logging
import StateStore
import SyncMachines
package import SyncModel
import Telemetry
package import WatermelonWire

/// The gateway without its HTTP server: serves clients' pulls and pushes, and calls the backend.
package final class SyncGateway: Sendable {
    /// The longest time for which the state may hear nothing of a device that pulls, in milliseconds.
    package static let idleCursorAge = PullMachine.idleCursorAge

    let services: SyncServices

    /// Creates a gateway over a state and a backend.
    ///
    /// - Parameters:
    ///   - configuration: The operator's configuration.
    ///   - store: The state; closed by its opener.
    ///   - backend: The backend.
    ///   - ports: The rest of the outside world.
    ///   - tokens: Verifies tokens; nil if the configuration does not want that.
    ///   - tuning: Sizes that are not configurable.
    package init(
        configuration: Configuration, store: Accounts, backend: BackendClient, ports: GatewayPorts,
        tokens: TokenKeys? = nil, tuning: GatewayTuning = GatewayTuning()
    ) {
        services = SyncServices(
            configuration: configuration, backend: backend,
            lasting: LastingServices(configuration: configuration, store: store, ports: ports, tuning: tuning),
            tokens: tokens, after: nil)
    }

    private init(_ services: SyncServices) { self.services = services }

    /// Returns a gateway with another configuration over the same state.
    ///
    /// It shares locks, permits, memory and journals with this one, whose running requests finish as they began.
    ///
    /// - Parameters:
    ///   - configuration: The configuration; keys that need a restart have their values of this gateway.
    ///   - backend: The backend of the configuration.
    ///   - tokens: Verifies tokens; nil if the configuration does not want that.
    /// - Returns: The gateway for new requests.
    package func reconfigured(
        _ configuration: Configuration, backend: BackendClient, tokens: TokenKeys? = nil
    ) -> SyncGateway {
        SyncGateway(
            SyncServices(
                configuration: configuration, backend: backend, lasting: services.lasting, tokens: tokens,
                after: services))
    }

    /// The keys that verify tokens; nil if none are configured.
    package var tokens: TokenKeys? { services.tokens }

    /// The name of this gateway among the holders of leases, for the log.
    package var leaseHolder: String { services.leases.holder }

    /// The names and paths that clients use.
    package var dialect: WireDialect { services.dialect }

    /// Drops expired cached answers until it is cancelled, even if no pulls come.
    package func dropExpired() async {
        let pause = min(max(services.configuration.pull.repeatWindow.milliseconds / 4, 1_000), 15_000)
        while !Task.isCancelled {
            services.cachedAnswers.purge(at: services.clock.now)
            do { try await services.clock.sleep(milliseconds: pause) } catch { return }
        }
    }

    /// Refuses to start if the clock is behind the newest cursor of the state by more than pulls wait for the clock.
    ///
    /// - Throws: ``PullFailure/clockBehind`` (finding 10), or the state's errors.
    package func checkClock() async throws { try await Self.checkClock(services.clock, of: services.store) }

    /// Refuses a clock that is behind the newest cursor of a state, as ``checkClock()`` does.
    package static func checkClock(_ clock: any WallClock, of store: Accounts) async throws {
        guard let newest = try await store.newestCursor() else { return }
        guard newest.time.milliseconds(since: clock.now + store.cursorLead) <= PullMachine.clockTolerance else {
            throw PullFailure.clockBehind
        }
    }

    /// Returns the mark of `[identity] key` that the state keeps: it says nothing about the key, and tells it from
    /// others.
    package static func keyMark(of configuration: Configuration) -> Int64 {
        Int64(KeyedDigest(key: configuration.identity.key.bytes).derivedKey(.mark).0 >> 12)
    }

    /// Checks that the state can be read and written.
    package func checkState() async throws {
        // Longer than the wait for another process's lock, so that such a lock is reported as what it is.
        try await services.store.checkWriting(within: services.configuration.state.busyTimeout + .seconds(1))
    }

    /// Makes sure that the backend has accepted the caller's credential within `[identity] auth_ttl`; asks it if
    /// necessary.
    ///
    /// - Returns: The user's principal, whatever the scope.
    /// - Throws: The errors of ``pull(_:caller:)`` for a caller that is not accepted.
    package func admit(_ caller: Caller) async throws -> String {
        try services.backend.breaker?.check()
        let identity = try await identify(caller)
        try await services.identities.verify(identity, at: services.clock.now)
        return identity.principal.user.rawValue
    }

    /// Serves one pull.
    ///
    /// - Returns: An answer that is committed already, so the client may see its cursor.
    /// - Throws: Any error; `GatewayError(_:)` has the client's answer. Nothing that a client could see has changed
    ///   then.
    package func pull(_ request: PullRequest, caller: Caller) async throws -> PullAnswer {
        try services.backend.breaker?.check()
        let version = try effectiveVersion(request.schemaVersion)
        let identity = try await identify(caller)
        try services.rates?.admit(identity.principal.user, at: .milliseconds(services.clock.now.milliseconds))
        var presented: Cursor?
        if case .cursor(let number) = request.lastPulledAt { presented = Cursor(rawValue: number) }
        SyncTrace.note { $0.subject.presented = presented?.rawValue }
        var startOvers = 0
        var awaited = AwaitedPushes()
        while true {
            let end = try await inScope(of: caller) {
                try await alone(identity, presenting: presented, for: caller) { known in
                    try await services.streaming(identity, from: presented) {
                        var runner = makeRunner(
                            request, from: presented, version: version, known: known, awaiting: awaited,
                            startOvers: startOvers, identity: identity, caller: caller)
                        return try await runner.run()
                    }
                }
            }
            switch end {
            case .answer(let answer): return answer
            case .startOver:
                startOvers += 1
                awaited.areOpen = true
                caller.logger.info("a pull starts over: ids that the backend has made became known")
            case .heldUp(let unfinished):
                // Outside the locks, because push recovery takes them itself, the session's for a search.
                try await finish(unfinished, &awaited, of: identity, for: caller)
            }
        }
    }

    /// Serves one push.
    ///
    /// - Throws: Any error; `GatewayError(_:)` has the client's answer.
    package func push(_ request: PushRequest, caller: Caller) async throws -> PushAnswer {
        try services.backend.breaker?.check()
        _ = try effectiveVersion(request.schemaVersion)
        let identity = try await identify(caller)
        SyncTrace.note { $0.subject.presented = request.lastPulledAt }
        try services.rates?.admit(identity.principal.user, at: .milliseconds(services.clock.now.milliseconds))
        return try await inScope(of: caller) {
            try await services.exclusively(
                identity, presenting: PushScope.presented(request), pushing: services.noted(request),
                logger: caller.logger
            ) { context in
                var known: StoredPullContext? = context
                if known?.unfinished != UnfinishedPushes() {
                    known = nil
                    try await finishPushes(before: request, of: identity, for: caller)
                }
                var runner = PushRunner(
                    services: services, request: request, identity: identity, logger: caller.logger, known: known)
                return try await runner.run()
            }
        }
    }

    /// Runs a sync, and tells a backend that has nothing in the scope from one that does not understand: it says 404 or
    /// 410 (BACKEND-PROTOCOL, Scope, rule 2).
    private func inScope<R>(of caller: Caller, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch BackendError.refused(let status) where [404, 410].contains(status) && !caller.scope.isEmpty {
            throw GatewayError(fault: .scopeUnknown, cause: "the backend answers \(status) for \(caller.scope)")
        }
    }

    /// Runs a pull under the principal's lease if it needs one, with what the state knew when it was taken.
    private func alone<R>(
        _ identity: CallerIdentity, presenting presented: Cursor?, for caller: Caller,
        _ body: (StoredPullContext?) async throws -> R
    ) async throws -> R {
        guard services.pullsNeedLease else { return try await body(nil) }
        return try await services.exclusively(identity, presenting: presented, logger: caller.logger, body)
    }

    private func identify(_ caller: Caller) async throws -> CallerIdentity {
        let timing = SyncTrace.begin(.identity)
        defer { timing.end() }
        let identity = try await services.identities.resolve(caller, at: services.clock.now)
        SyncTrace.note {
            $0.subject.principal = identity.principal.description
            $0.subject.scope = identity.principal.scope
        }
        return identity
    }

    /// Deals with what earlier pushes have left to do before another one.
    private func finishPushes(
        before request: PushRequest, of identity: CallerIdentity, for caller: Caller
    ) async throws {
        let recovery = PushRecovery(services: services, identity: identity, logger: caller.logger, push: request)
        try await recovery.close()
        let retries = ScheduledRetries(services: services, identity: identity, logger: caller.logger)
        try await retries.apply(before: request.changes)
        // Journals that the retries have left open are closed like those of any push.
        try await recovery.close()
    }

    /// Deals with what pushes have left to do before a pull: scheduled retries first, and if there are none, open
    /// journals, so that no record reaches its own device under another id.
    ///
    /// The pull waits for a running push that creates such records; if that takes too long, the pull must not go on.
    private func finish(
        _ unfinished: UnfinishedPushes, _ awaited: inout AwaitedPushes, of identity: CallerIdentity,
        for caller: Caller
    ) async throws {
        if awaited.areScheduled, unfinished.hasScheduledRetries {
            awaited.areScheduled = false
            // Retries may leave journals of their own.
            awaited.areOpen = true
            return try await applyScheduledRetries(identity, caller)
        }
        awaited.areOpen = false
        let recovery = PushRecovery(services: services, identity: identity, logger: caller.logger)
        do {
            try await services.exclusively(
                identity, presenting: nil, waits: services.makesIDs, logger: caller.logger
            ) { _ in
                try await recovery.close()
            }
        } catch LockError.heldElsewhere where !services.makesIDs {
            // The push runs at another gateway, and its records have the ids that their device gave them.
        }
    }

    /// Applies scheduled retries before a pull, so that the pull brings their results.
    ///
    /// If the lock is not available in time, the pull goes on without them, and the next request tries again.
    private func applyScheduledRetries(_ identity: CallerIdentity, _ caller: Caller) async throws {
        let retries = ScheduledRetries(services: services, identity: identity, logger: caller.logger)
        do {
            try await services.exclusively(identity, presenting: nil, logger: caller.logger) { _ in
                // Recovery first: until a record's open creation is resolved, it is unknown how the record has to be
                // sent.
                try await PushRecovery(services: services, identity: identity, logger: caller.logger).close()
                try await retries.apply(before: nil)
            }
        } catch let error as LockError {
            caller.logger.notice("the retry of quarantined records is postponed", metadata: ["because": "\(error)"])
        }
    }

    private func makeRunner(
        _ request: PullRequest, from presented: Cursor?, version: Int, known: StoredPullContext?,
        awaiting awaited: AwaitedPushes, startOvers: Int, identity: CallerIdentity, caller: Caller
    ) -> PullRunner {
        let key = CachedAnswers.Key(
            principal: identity.principal, session: identity.session, credential: identity.credential,
            cursor: presented, schemaVersion: version, configuration: services.configurationNumber)
        let cached = services.cachedAnswers.take(key, at: services.clock.now)
        var random = services.random
        var query = services.queries.value(at: version)
        (query.principal, query.session, query.presented) = (identity.principal, identity.session, presented)
        query.isFirst = request.lastPulledAt == .never
        (query.schemaVersion, query.requested) = (request.schemaVersion, request.migration)
        query.newReplica = .random(using: &random)
        (query.cached, query.startOvers) = (cached?.stream, startOvers)
        query.distrustsPosition = LeaseKeeper.current?.distrustsPosition ?? false
        let scope = PullScope(
            services: services, query: query, identity: identity,
            projection: services.projections.value(at: version), logger: caller.logger, awaited: awaited,
            known: known)
        return PullRunner(scope, cached: cached, cacheKey: key)
    }

    /// Returns the version whose tables and columns the client gets: its own, or the newest if its own is newer or
    /// unknown.
    ///
    /// Versions that see the same are represented by the first, so that caches by version do not grow with every number
    /// that a client sends.
    private func effectiveVersion(_ stated: Int?) throws -> Int {
        let schema = services.configuration.schema
        guard let stated else { return services.versions.last ?? schema.version }
        guard stated >= schema.oldest else {
            throw GatewayError(fault: .appTooOld, cause: "schema version \(stated) is below \(schema.oldest)")
        }
        return services.versions.last { $0 <= stated } ?? schema.oldest
    }
}
