// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

// What must never happen, looked at with every answer.
extension Simulation {
    func answered(_ pull: SimulatedPull, _ answer: SimulatedAnswer, isNew: Bool) {
        let device = devices[pull.device]
        if let repeated = answer.repeated { complain("\(repeated) is twice in one answer") }
        if isNew, !handedOut.insert(answer.timestamp).inserted {
            complain("the cursor \(answer.timestamp) is handed out twice")
        }
        if !isNew, answer.timestamp != pull.query.presented?.rawValue {
            complain("an answer without changes carries another cursor")
        }
        note(pull, "answers \(answer.timestamp): \(answer.summary)\(pull.isAbandoned ? ", lost" : "")")
        guard !pull.isAbandoned, device.cursor == pull.query.presented else { return }
        if setup.hasLedger {
            checkCreated(answer, pull)
            checkUpdated(answer, pull)
            checkDeleted(answer, pull)
        }
        devices[pull.device].apply(answer)
    }

    /// Nothing comes in `created` that the device has, or has deleted: the library would bring it back to life.
    private func checkCreated(_ answer: SimulatedAnswer, _ pull: SimulatedPull) {
        guard !pull.query.isFirst else { return }
        let device = devices[pull.device]
        for key in answer.created.keys.sorted() where device.records[key] != nil && !adrift.contains(key) {
            complain("\(key) is created for \(device.name), which has it already")
        }
    }

    /// What a device has it is not sent again, but for the echo of each push, once.
    private func checkUpdated(_ answer: SimulatedAnswer, _ pull: SimulatedPull) {
        if pull.diffPlan?.isExact == false {
            // No hash was relied on, and those of what did not come now cannot be relied on later.
            devices[pull.device].mayGetAll()
            return
        }
        if let change = pull.change { mayGetFetched(change, answer, pull) }
        let device = devices[pull.device]
        // Of a type that was never compared no hash is relied on either, and it is streamed as a whole soon.
        let untracked = pull.diffPlan?.untracked ?? []
        for (key, record) in answer.updated.sorted(by: { $0.key < $1.key })
        where !adrift.contains(key) && !isFetched(key, record, for: pull.change) {
            guard let local = device.records[key], local.status == .synced, local.record == record else { continue }
            // Nobody knows what the app has thrown away.
            if device.passedOver.contains(key) { continue }
            let feeds = SimulatedSchema.schema.tables[key.table.rawValue].feeds.flatMap(\.versions)
            if feeds.contains(where: { untracked.contains($0.requestType) }) { continue }
            let count = devices[pull.device].mayGetAgain[key, default: 0]
            if count == 0 { complain("\(key) is sent to \(device.name), which has it as it is") }
            // One that a pull saw whose stream had begun before the push may come twice.
            devices[pull.device].mayGetAgain[key] = count - 1
        }
    }

    /// What a migration has fetched and could not be read, or was held back, goes out once it comes.
    private func mayGetFetched(_ change: SchemaChange, _ answer: SimulatedAnswer, _ pull: SimulatedPull) {
        let isHeldBack = (pull.diff?.figures.heldBack ?? 0) > 0
        let signs = pull.spool.signs
        for key in devices[pull.device].records.keys
        where change.affected.contains(key.table.name) && answer.updated[key] == nil {
            let table = key.table.rawValue
            let isUnreadable = signs.isBlind(table) || signs.quarantined[table]?[key.hash] != nil
            if isHeldBack || isUnreadable { devices[pull.device].mayGetAgain[key, default: 0] += 1 }
        }
    }

    /// Whether a record comes because the client has only just got its table, or a column that is not at its default.
    private func isFetched(_ key: SimulatedKey, _ record: SimulatedRecord, for change: SchemaChange?) -> Bool {
        guard let change else { return false }
        return change.tables.contains(key.table.name) || change.columns[key.table.name] != nil && record.mark != 0
    }

    /// An echo may come once for each push; one that came between its two notes comes again.
    func expectEcho(of key: SimulatedKey, isSeen: Bool) {
        for index in devices.indices {
            let count = devices[index].mayGetAgain[key, default: 0]
            if isSeen {
                devices[index].mayGetAgain[key] = count + 1
                devices[index].expected[key] = count + 1
            } else if count < devices[index].expected[key, default: 1] {
                devices[index].mayGetAgain[key] = count + 1
            }
        }
    }

    /// Nothing is deleted that was there all the time, or that was only seen in a push.
    private func checkDeleted(_ answer: SimulatedAnswer, _ pull: SimulatedPull) {
        let device = devices[pull.device]
        for key in answer.deleted.sorted() {
            if let reason = complaint(ofDeleting: key, on: device, began: pull.began, lookedAt: pull.lookedAt) {
                complain(reason)
            }
        }
    }

    /// What is wrong with a deletion on a device; nil where nothing is.
    ///
    /// - Parameters:
    ///   - key: The record.
    ///   - device: The device as it was before the answer.
    ///   - began: The backend's count when the pull began.
    ///   - lookedAt: Its count when the pull last opened a stream.
    /// - Returns: A sentence, or nil.
    func complaint(
        ofDeleting key: SimulatedKey, on device: SimulatedDevice, began: Int, lookedAt: Int
    ) -> String? {
        guard let local = device.records[key] else { return nil }
        if local.status == .created, !backend.everSeen.contains(key), !backend.untold.contains(key),
            !unmade.contains(key)
        {
            return "\(key) is deleted on \(device.name), and nobody but the device has ever had it"
        }
        guard let since = backend.visibleSince[key], since <= began, let row = backend.rows[key] else { return nil }
        // A row that changes during both looks is missed by both (documented), and so is a late commit.
        if row.update > lookedAt || backend.late.contains(where: { $0.key == key }) { return nil }
        // The id was used again elsewhere, and its old deletion came into sight with a project (documented).
        if backend.hasLateDeletion(key) { return nil }
        // Nobody knows which record a line without an id was about.
        return row.damage == .withoutID ? nil : "\(key) is deleted on \(device.name), and was there all the time"
    }
}

// What must be true in the end.
extension Simulation {
    /// Lets everything come to rest; says what is wrong, nil where nothing is.
    package func quiesce() async throws -> String? {
        while let pull = pulls.first(where: { $0.isRunning }) ?? pulls.first {
            try await run(pull)
            if !complaints.isEmpty { return complaints[0] }
        }
        while let push = pushes.first { push.step() }
        note("--- quiet")
        comeToRest()
        busyComparisons = 0
        acceptAll()
        let isUntold = devices.contains { hasToShow($0) }
        if isUntold, let complaint = try await quiet(rounds: 1, pause: 1_000) { return complaint }
        showVersions()
        if let complaint = try await quiet(rounds: 4, pause: 1_000) { return complaint }
        if let difference = difference() { return difference }
        guard setup.hasLedger else { return nil }
        note("--- full comparison")
        now += 10 * Self.day
        backend.pass(days: 10)
        // A type at a time, and none before an hour after it could not be finished.
        if let complaint = try await quiet(rounds: SimulatedTable.allCases.count + 3, pause: 7_200_000) {
            return complaint
        }
        if let difference = difference(isCompared: true) { return difference }
        return try await ledgerDifference()
    }

    /// Lets what is delayed arrive, and mends what is broken at the backend.
    func comeToRest() {
        while !latePushes.isEmpty || !backend.late.isEmpty { arriveLate() }
        if let rows = backend.vanished { backend.restore(rows) }
        backend.repairAll()
        backend.retired = []
    }

    /// Lets devices that tell no version push something that only version 2 has.
    func showVersions() {
        for index in devices.indices where hasToShow(devices[index]) {
            devices[index].create(fresh(.notes), SimulatedRecord(value: 1))
        }
    }

    /// Whether nobody knows the device's version until it has pushed something that only version 2 has.
    private func hasToShow(_ device: SimulatedDevice) -> Bool { device.told == nil && device.version >= 2 }

    /// Whether nobody can ever know that the device has what version 2 has added: its pushes say not whose they are.
    func isMute(_ device: SimulatedDevice) -> Bool { hasToShow(device) && setup.pushTime == .none }

    private func acceptAll() {
        for replica in state.replicas.keys { state.replicas[replica]?.acceptedAt = now }
    }

    private func quiet(rounds: Int, pause: Int64) async throws -> String? {
        for _ in 0..<rounds {
            for index in devices.indices {
                let pull = try await sync(index)
                if let failure = pull.failure { return "a quiet pull of \(devices[index].name) failed: \(failure)" }
                // One that goes out later than all others, as people's do.
                now += 1_000
                if let complaint = complaints.first { return complaint }
            }
            now += pause
            acceptAll()
        }
        return nil
    }

    /// How a device differs from the backend, beyond what the protocol cannot tell; nil where none does.
    ///
    /// Documented limits, with a ledger:
    /// - until the full comparison (`isCompared`): late commits, which streams have passed; lost tombstones, and what
    ///   went with them; rows that moved between parents one of which went out of sight afterwards, for which the
    ///   protocol has no line; ids that were used again while their deletion was out of sight; records that came when
    ///   their own parent had not come or could not be read, and whose grandparent went out of sight then (`orphans`);
    ///   pushes that the backend refused in silence; records of a type whose comparison is under way, because deletions
    ///   were too many, a line could not be read, or the backend did not take the type for a while;
    /// - for ever: records that came and went while a state was in use that was lost afterwards: no entry is left of
    ///   them (finding 11); what only one of two copies of a device got, with an answer that the other went on
    ///   without, if it comes back after `rewind` (`setStraysAdrift`).
    ///
    /// Without a ledger what the stream does not name stays on devices (`forgotten`). What version 2 has added is not
    /// looked at on devices that never tell of it.
    ///
    /// - Parameters:
    ///   - isCompared: Whether every type was compared since.
    ///   - comparing: Of which devices a type is still to be compared; nil asks this simulation's own state.
    /// - Returns: A sentence, or nil.
    package func difference(isCompared: Bool = false, comparing: [Bool]? = nil) -> String? {
        for (index, device) in devices.enumerated() {
            let isComparing = comparing?[index] ?? isComparing(device)
            let version = isMute(device) ? 1 : device.version
            let shown = device.shown(to: version)
            let wanted = backend.visible(to: version)
            for key in Set(shown.keys).union(wanted.keys).sorted() where wanted[key] != shown[key] {
                if !isCompared, backend.untold.contains(key) { continue }
                if wanted[key] == nil, isExcused(key, device, isCompared: isCompared, isComparing: isComparing) {
                    continue
                }
                let (have, want) = (shown[key]?.description ?? "nothing", wanted[key]?.description ?? "nothing")
                return "\(device.name) shows \(have) for \(key), the backend has \(want)"
            }
            if let key = device.pending.keys.filter({ isCompared || !backend.untold.contains($0) }).min() {
                return "\(device.name) never gets rid of its edit of \(key)"
            }
        }
        return nil
    }

    private func isExcused(
        _ key: SimulatedKey, _ device: SimulatedDevice, isCompared: Bool, isComparing: Bool
    ) -> Bool {
        if adrift.contains(key) || !isCompared && device.isOrphaned(key, or: adrift) { return true }
        guard setup.hasLedger else { return backend.forgotten.contains(key) }
        guard !isCompared else { return false }
        return backend.isCascadeLost || isComparing
    }

    /// Whether a type is still to be compared for a device.
    private func isComparing(_ device: SimulatedDevice) -> Bool {
        guard let row = device.cursor.flatMap({ state.rows[$0.rawValue] }) else { return false }
        return row.comparisons.values.contains { $0.triedAt > 0 || $0.doneAt == 0 }
            || row.mappingDigest != "mapping \(mapping)"
    }

    /// Whether the ledgers tell exactly what is on the devices, and count it right.
    func ledgerDifference() async throws -> String? {
        for device in devices {
            guard let row = device.cursor.flatMap({ state.rows[$0.rawValue] }) else { continue }
            let outline = state.outline(of: row.replica, at: row.cursor)
            guard outline.isExact else { return "the ledger of \(device.name) is not exact" }
            for (place, (table, shape)) in SimulatedSchema.shapes.enumerated() {
                var view = try LedgerView(
                    source: state.layers, layers: outline.layers, table: table, shape: shape, key: SimulatedSchema.key)
                var held: Set<String> = []
                while try await view.next() {
                    if view.state == .held, let id = view.entry?.id { held.insert(id) }
                }
                let noted = state.notes.values.filter { $0.sequence > row.noted && $0.table == table }.map(\.id)
                let shown = Set(device.shown.keys.filter { $0.table.rawValue == place }.map(\.id))
                // What the app does not have it passes over.
                if table == SimulatedTable.notes.name, device.told == nil, device.version < 2 || isMute(device) {
                    continue
                }
                let odd = held.symmetricDifference(shown).subtracting(adrift.map(\.id)).subtracting(noted)
                if !odd.isEmpty { return "the ledger of \(device.name) is wrong about \(table) \(odd.sorted())" }
                let counted = state.layers.count(
                    of: (outline.base.map { [$0] } ?? []) + outline.deltas, table: table)
                if noted.isEmpty, counted != held.count {
                    return "the ledger of \(device.name) counts \(counted) \(table), and has \(held.count)"
                }
            }
        }
        return nil
    }
}
