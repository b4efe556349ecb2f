// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Applies the entries that the operator has marked with `rind quarantine retry`, with the credential of the
/// principal's present request.
///
/// Credentials are not stored, so there is no other time for it. Each entry is a push of its own, so an entry that is
/// refused again does not stop the others.
struct ScheduledRetries {
    /// The greatest number of entries that one request applies; the principal's next request goes on with the rest.
    static let maximumEntries = 100
    /// The longest time that retries may delay a request, in milliseconds; an entry that was begun is finished.
    static let maximumTime: Int64 = 10_000
    /// The greatest number of attempts for an entry whose outcome stays unknown.
    static let maximumTries = 5

    let services: SyncServices
    let identity: CallerIdentity
    let logger: Logger

    /// The reasons for a refusal of the gateway's own.
    private enum Code: String {
        case noTable = "push.no_table"
    }

    private enum Outcome {
        case taken
        case refused(QuarantinedOperation.Reason)
        /// The backend takes nothing at the moment.
        case later(String)
        /// The outcome is unknown, and sending the entry again is harmless.
        case unknown(QuarantinedOperation.Reason)
    }

    /// Applies the retries, except those of records that the client is about to push itself.
    ///
    /// - Parameter changes: The client's changes; nil for a pull.
    /// - Precondition: No other push runs for the principal meanwhile.
    /// - Throws: Only errors that would end the caller's request as well.
    func apply(before changes: PushChanges?) async throws {
        var entries = try await services.store.scheduledRetries(of: identity.principal, limit: Self.maximumEntries)
        guard !entries.isEmpty else { return }
        let pushed = Set(changes?.keys ?? [])
        entries.removeAll { pushed.contains($0.push.key) }
        guard !entries.isEmpty else { return }
        // Stored records go only to a caller whom the backend accepts and who is still the same principal.
        try await services.identities.verifyNow(identity, at: services.clock.now)
        let end = services.clock.now + Self.maximumTime
        for entry in entries {
            try Task.checkCancellation()
            guard services.clock.now < end else { return }
            let metadata: Logger.Metadata = ["entry": "push-\(entry.id)", "table": "\(entry.push.key.table)"]
            switch try await attempt(entry) {
            case .taken:
                logger.notice("the backend has taken a quarantined record", metadata: metadata)
            case .refused(let reason):
                try await services.store.quarantineAgain(entry.id, reason: reason, at: services.clock.now)
                logger.error(
                    "the backend refuses a quarantined record again",
                    metadata: metadata.merging(["code": "push.quarantined", "because": "\(reason.code)"]) { $1 })
            case .unknown(let reason):
                let tries = try await services.store.countTry(ofQuarantined: entry.id, at: services.clock.now)
                logger.warning(
                    "it is unknown whether the backend has taken a quarantined record",
                    metadata: metadata.merging(["code": "\(reason.code)", "tries": "\(tries)"]) { $1 })
                guard tries >= Self.maximumTries else { continue }
                try await services.store.quarantineAgain(entry.id, reason: reason, at: services.clock.now)
            case .later(let code):
                logger.notice("the retry of quarantined records is postponed", metadata: ["because": "\(code)"])
                return
            }
        }
    }

    /// Returns true if an entry whose outcome is unknown may be sent again.
    ///
    /// For a creation that gets its id from the backend, push recovery resolves the journal first, by the idempotency
    /// key.
    private func isRepeatable(_ push: QuarantinedOperation) async throws -> Bool {
        guard push.kind == .create, let table = services.configuration.schema.table(named: push.key.table),
            table.makesIDs
        else { return true }
        guard services.backend.settings.streamPush == nil, services.configuration.push.idempotencyHeader != nil else {
            return false
        }
        return try await !services.store.wasGivenUp(push.key, of: identity.principal)
    }

    private func attempt(_ entry: QuarantinedPush) async throws -> Outcome {
        guard services.configuration.schema.table(named: entry.push.key.table) != nil else {
            return .refused(
                QuarantinedOperation.Reason(code: Code.noTable.rawValue, message: "the configuration has no such table")
            )
        }
        var runner = PushRunner(
            services: services, request: PushRequest(lastPulledAt: nil, changes: PushChanges(entry.push)),
            identity: identity, logger: logger, isRetry: true)
        do {
            _ = try await runner.run()
            return .taken
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as StateError {
            throw error
        } catch BackendError.credentialRefused(let status) {
            return .later(BackendError.credentialRefused(status: status).code)
        } catch {
            let code = GatewayError(error).code
            if code == PushFailure.busy.rawValue { return .later(code) }
            if code == PushFailure.unknownOutcome.rawValue, try await isRepeatable(entry.push) {
                return .unknown(runner.refusals.reason(at: 0, code: code))
            }
            // If the outcome is unknown, the backend may no longer have the record's earlier state.
            let refusals = [PushRefusal.Kind.rejected, .conflict].map(\.rawValue)
            if refusals.contains(code) || PushRefusal.Obstacle(rawValue: code) != nil {
                try await runner.notes.writeRefused([0])
            }
            return .refused(runner.refusals.reason(at: 0, code: code))
        }
    }
}

extension PushChanges {
    /// Creates the single change of an entry.
    init(_ push: QuarantinedOperation) {
        var table = PushedTable(name: push.key.table)
        let record = PushedRecord(id: push.key.id, range: 0..<push.body.count)
        switch push.kind {
        case .create: table.created = [record]
        case .update: table.updated = [record]
        case .delete: table.deleted = [push.key.id]
        }
        self.init(bytes: push.body, tables: [table])
    }
}

extension PushChanges {
    /// The keys of the records in the state.
    var keys: [PushedRecordKey] {
        tables.flatMap { table in
            (table.created.map(\.id) + table.updated.map(\.id) + table.deleted)
                .map { PushedRecordKey(table: table.name, id: $0) }
        }
    }
}
