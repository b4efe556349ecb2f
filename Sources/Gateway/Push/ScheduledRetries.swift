// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Applies what the operator has marked with `rind quarantine retry`, in the name of whoever has just called.
///
/// Credentials are not stored, so there is no other time for it. Each entry is a push of its own: one that is refused
/// again stops no other.
struct ScheduledRetries {
    /// How many entries one request applies at most; the next one goes on.
    static let maximumEntries = 100
    /// How long that may hold up a request, in milliseconds; an entry that was begun is finished.
    static let maximumTime: Int64 = 10_000
    /// How often an entry is tried of which the backend does not say whether it has taken it.
    static let maximumTries = 5

    let services: SyncServices
    let identity: CallerIdentity
    let logger: Logger

    private enum Outcome {
        case taken
        case refused(SetAsidePush.Reason)
        /// The backend takes nothing at the moment.
        case later(String)
        /// Nobody knows whether the backend has taken it, and sending it again does no harm.
        case unknown(SetAsidePush.Reason)
    }

    /// Whether there are any.
    var areThere: Bool {
        get async throws {
            try await !services.store.scheduledRetries(of: identity.principal, limit: 1).isEmpty
        }
    }

    /// Applies them, but for records that the client is about to push itself.
    ///
    /// - Parameter changes: What the client pushes; nil for a pull.
    /// - Precondition: Nobody else pushes for the principal meanwhile.
    /// - Throws: Only what would end the caller's request as well.
    func apply(before changes: PushChanges?) async throws {
        var entries = try await services.store.scheduledRetries(of: identity.principal, limit: Self.maximumEntries)
        guard !entries.isEmpty else { return }
        let pushed = Set(changes?.keys ?? [])
        entries.removeAll { pushed.contains($0.push.key) }
        guard !entries.isEmpty else { return }
        // What is stored goes only to somebody whom the backend accepts, and who is still the same.
        try await services.identities.verifyNow(identity, at: services.clock.now)
        let end = services.clock.now + Self.maximumTime
        for entry in entries {
            try Task.checkCancellation()
            guard services.clock.now < end else { return }
            let metadata: Logger.Metadata = ["entry": "push-\(entry.id)", "table": "\(entry.push.key.table)"]
            switch try await attempt(entry) {
            case .taken:
                logger.notice("the backend has taken a record that was set aside", metadata: metadata)
            case .refused(let reason):
                try await services.store.setAsideAgain(entry.id, reason: reason, at: services.clock.now)
                logger.error(
                    "the backend refuses a record once more that was set aside",
                    metadata: metadata.merging(["code": "push.quarantined", "because": "\(reason.code)"]) { $1 })
            case .unknown(let reason):
                let tries = try await services.store.countTry(ofSetAside: entry.id, at: services.clock.now)
                logger.warning(
                    "nobody knows whether the backend has taken a record that was set aside",
                    metadata: metadata.merging(["code": "\(reason.code)", "tries": "\(tries)"]) { $1 })
                guard tries >= Self.maximumTries else { continue }
                try await services.store.setAsideAgain(entry.id, reason: reason, at: services.clock.now)
            case .later(let code):
                logger.notice("what was set aside is tried again later", metadata: ["because": "\(code)"])
                return
            }
        }
    }

    /// Whether an entry may be sent again of which nobody knows whether the backend has taken it.
    ///
    /// Of a creation that gets its id from the backend the journal is closed first, by its key.
    private func isRepeatable(_ push: SetAsidePush) async throws -> Bool {
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
            return .refused(SetAsidePush.Reason(code: "push.no_table", message: "the configuration has no such table"))
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
        } catch BackendError.credentialRefused {
            return .later("backend.credential")
        } catch {
            let code = GatewayError(error).code
            if code == PushFailure.busy.rawValue { return .later(code) }
            if code == PushFailure.unknownOutcome.rawValue, try await isRepeatable(entry.push) {
                return .unknown(runner.refusals.reason(at: 0, code: code))
            }
            // Of one whose outcome is unknown nobody can say that the backend has what it had before.
            let refusals = [PushRefusal.Kind.rejected, .conflict].map(\.rawValue)
            if refusals.contains(code) || PushRefusal.Obstacle(rawValue: code) != nil {
                try await runner.notes.writeRefused([0])
            }
            return .refused(runner.refusals.reason(at: 0, code: code))
        }
    }
}

extension PushChanges {
    /// The one change that an entry is about.
    init(_ push: SetAsidePush) {
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
    /// What names its records in the state.
    var keys: [PushedRecordKey] {
        tables.flatMap { table in
            (table.created.map(\.id) + table.updated.map(\.id) + table.deleted)
                .map { PushedRecordKey(table: table.name, id: $0) }
        }
    }
}
