// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import GatewayConfig
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Holds what all parts of one pull or check work with.
///
/// A class, since each part holds it: a copy counts one reference.
final class PullScope: Sendable {
    let services: SyncServices
    let query: PullQuery
    let identity: CallerIdentity
    let projection: Projection
    let logger: Logger
    /// The kinds of unfinished pushes that have to be dealt with first.
    let awaited: AwaitedPushes
    /// The state's knowledge when the pull's lease was taken; nil if it has to be asked.
    let known: StoredPullContext?

    init(
        services: SyncServices, query: PullQuery, identity: CallerIdentity, projection: Projection, logger: Logger,
        awaited: AwaitedPushes = .none, known: StoredPullContext? = nil
    ) {
        self.services = services
        self.query = query
        self.identity = identity
        self.projection = projection
        self.logger = logger
        self.awaited = awaited
        self.known = known
    }

    var store: Accounts { services.store }
    var schema: Schema { services.configuration.schema }
    var now: Instant { services.clock.now }
    /// True if ledgers record which records devices have.
    var keepsLedgers: Bool { services.pullSettings.keepsLedgers }
    /// The backend's client, with the logger of this request.
    var backend: BackendClient { services.backend(logging: logger) }

    /// Returns the lines and values to quarantine, and logs the columns whose values are to be reported now.
    func quarantined(_ spooler: StreamSpooler) -> [QuarantinedLine] {
        let values = spooler.values(of: schema)
        let due = services.values.due(values.problems, at: now)
        values.log(due, to: logger)
        return spooler.quarantined + values.quarantined(for: due)
    }

    /// Reads what the state knows about the caller.
    func read<T>(_ rule: (inout Account) throws -> T) async throws -> T {
        try await store.read(query.principal, rule)
    }

    /// Changes what the state knows about the caller.
    @discardableResult
    func change<T>(_ rule: (inout Account) throws -> T) async throws -> T {
        try await store.change(query.principal, rule)
    }

    /// Returns the state's knowledge about the caller and the presented cursor.
    func context() async throws -> StoredPullContext {
        if let known { return known }
        return try await read { try ContextRule.context(of: &$0, session: query.session, presented: query.presented) }
    }

    /// Commits a pull, which gives its lease back.
    func giveBackCommitting(_ pull: PullCommit) async throws -> FirstSyncs.Row? {
        let outcome = try await LeaseKeeper.givingBack { try await store.commit(pull) }
        for replica in outcome.displaced {
            logger.warning(
                "more devices of a user start at the same time than are kept: one of them gets everything again",
                metadata: [
                    "code": "state.too_many_starting", "principal": "\(query.principal)", "replica": "\(replica)",
                ])
        }
        return outcome.firstSyncs
    }

    /// Drops the principal's receipts as the last write of a pull, which gives its lease back.
    func giveBackDroppingReceipts() async throws {
        try await LeaseKeeper.givingBack { try await change { try ReceiptRules.drop(in: &$0) } }
    }

    /// Logs an event that the gateway's own machine did not expect.
    func log(unexpected: UnexpectedEvent?) {
        guard let unexpected else { return }
        logger.error(
            "a pull was given up, since something happened that cannot happen at that point",
            metadata: [
                "code": "\(PullFailure.unexpectedEvent.rawValue)", "state": "\(unexpected.state)",
                "event": "\(unexpected.event)",
            ])
    }
}
