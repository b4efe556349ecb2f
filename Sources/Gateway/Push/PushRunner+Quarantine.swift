// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel

// What the backend will never take and is set aside (`[push] rejected = quarantine`).
extension PushRunner {
    /// How many entries a log line names.
    private static let shown = 20

    /// Looks up what of the principal's is set aside, since the push may resolve it.
    ///
    /// Of a record whose earlier change waits there, an update carries everything: the backend never got that change.
    mutating func loadSetAside() async throws {
        setAside = try await services.store.setAsideKinds(of: identity.principal)
        reader.wholeRecords = Set(setAside.keys)
    }

    /// Whether operations can be set aside; where not, the push fails and the log says why.
    func hasRoom(for places: Set<Int>) -> Bool {
        let (push, operations) = (services.configuration.push, places.map { plan.operations[$0] })
        if let large = operations.first(where: { $0.range?.count ?? 0 > push.quarantineRecord }) {
            logger.error(
                "a record that the backend refuses is too large to be set aside, so its push fails",
                metadata: [
                    "code": "push.quarantine_too_large", "table": "\(reader.tableName(of: large))",
                    "bytes": "\(large.range?.count ?? 0)", "limit": "\(push.quarantineRecord)",
                ])
            return false
        }
        let added = Set(operations.map(reader.key)).subtracting(setAside.keys).count
        guard setAside.count + added > push.quarantineEntries else { return true }
        logger.error(
            "there is no room to set aside what the backend refuses, so the push fails",
            metadata: [
                "code": "push.quarantine_full", "entries": "\(setAside.count)", "limit": "\(push.quarantineEntries)",
                "principal": "\(identity.principal)",
                "hint": "rind quarantine list --pushes --principal \(identity.principal)",
            ])
        return false
    }

    /// Sets operations aside, and notes that the backend does not have them.
    func setAside(_ places: Set<Int>) async throws {
        let pushes = places.sorted().map { place in
            let operation = plan.operations[place]
            return SetAsidePush(
                key: reader.key(of: operation), kind: SetAsidePush.Kind(operation.kind),
                body: reader.bytes(of: operation),
                reason: reason(at: place, code: refusals[place]?.code ?? PushRefusal.Kind.rejected.rawValue))
        }
        let ids = try await services.store.setAside(
            pushes, of: identity.principal, limit: services.configuration.push.quarantineEntries,
            at: services.clock.now)
        try await noteRefused(places)
        let names = ids.prefix(Self.shown).map { "push-\($0)" }.joined(separator: " ")
        logger.error(
            "records that the backend refuses were set aside; their devices take them for synced",
            metadata: [
                "code": "push.quarantined", "records": "\(ids.count)", "entries": "\(names)",
                "tables": "\(Set(pushes.map(\.key.table)).sorted().joined(separator: " "))",
                "principal": "\(identity.principal)", "hint": "rind quarantine show push-\(ids.first ?? 0)",
            ])
    }

    /// Why the operation at a place was refused.
    func reason(at place: Int, code: String) -> SetAsidePush.Reason {
        SetAsidePush.Reason(
            code: code, status: refusals[place]?.record.status, message: refusals[place]?.record.message)
    }

    /// Removes the entries of records that the backend has taken with this push, or that their client has deleted.
    func removeTaken() async throws {
        guard !setAside.isEmpty else { return }
        let keys = taken.map { reader.key(of: plan.operations[$0]) }.filter { setAside[$0] != nil }
        guard !keys.isEmpty else { return }
        try await services.store.removeSetAside(keys, of: identity.principal)
        logger.notice("records that were set aside were taken by the backend", metadata: ["records": "\(keys.count)"])
    }

    /// The same for a push that comes to a bad end.
    ///
    /// An entry that stayed would, once it is retried, put an older state of its record over a newer one.
    func removeTakenAtLast() async {
        do {
            try await removeTaken()
        } catch {
            logger.notWritten("could not take accepted records out of quarantine", error)
        }
    }
}
