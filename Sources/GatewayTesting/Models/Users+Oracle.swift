// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Ledger
import SyncModel

/// Tells what a pull was compared with, as the gateway has logged it.
struct WorldComparison {
    /// True if the gateway knew exactly what the device has.
    var isExact = true
    /// The request types whose records the ledger has never seen completely.
    var untracked: Set<String> = []
    /// True if lines could not be read while it ran.
    var isDamaged = false
}

// What must never happen, looked at with every answer.
extension Users {
    /// Finds the mistakes in an answer; must be called before the device applies it.
    ///
    /// - Parameters:
    ///   - answer: The gateway's answer.
    ///   - sync: The pull.
    ///   - comparison: The expectations at the beginning of the pull.
    /// - Returns: A sentence for each rule that it breaks.
    func complaints(
        about answer: SimulatedAnswer, of sync: WorldSync, _ comparison: WorldComparison
    ) -> [String] {
        let device = devices[sync.device]
        var complaints = otherNames(in: answer, for: device)
        // The library would bring back to life what the device has deleted.
        for key in answer.created.keys.sorted()
        where sync.presented != nil && device.records[key] != nil && !adrift.contains(key) && !remade.contains(key)
            && !answer.renamed.contains(key)
        {
            complaints.append("\(key) is created for \(device.name), which has it already")
        }
        complaints += repetitions(in: answer, of: sync, comparison)
        return complaints
            + answer.deleted.sorted().compactMap {
                complaint(ofDeleting: $0, on: device, began: sync.began, lookedAt: sync.lookedAt)
            }
    }

    /// Finds references under other ids: a device knows a record by one id, and every reference names that id once the
    /// record has come.
    private func otherNames(in answer: SimulatedAnswer, for device: SimulatedDevice) -> [String] {
        guard backend.ids.isOn else { return [] }
        var complaints: [String] = []
        for (key, id) in answer.names.sorted(by: { $0.key < $1.key })
        where device.records[key] != nil && device.id(of: key) != id && !answer.renamed.contains(key)
            && !adrift.contains(key)
        {
            complaints.append("\(key) comes to \(device.name) as \(id), which has it as \(device.id(of: key))")
        }
        var after = device
        after.apply(answer)
        // What the device has had before may have to wait for a stream that was not overtaken.
        let children = Set(answer.created.keys).union(answer.updated.keys)
        return complaints + strayReferences(on: after, of: children)
    }

    /// Lists the records of a device that name their parent by another id than the one by which the device has it.
    private func strayReferences(on device: SimulatedDevice, of children: some Sequence<SimulatedKey>) -> [String] {
        children.sorted().compactMap { key in
            guard let local = device.records[key], local.status == .synced, let table = key.table.parent else {
                return nil
            }
            let parent = SimulatedKey(table, local.record.parent)
            guard device.records[parent] != nil, !adrift.contains(key), !adrift.contains(parent) else { return nil }
            let (reference, id) = (device.reference(of: key, local.record), device.id(of: parent))
            return reference == id ? nil : "\(key) is in \(reference), which \(device.name) has as \(id)"
        }
    }

    /// Finds records that a device gets again without a change; only the echo of each push may come, once.
    private func repetitions(
        in answer: SimulatedAnswer, of sync: WorldSync, _ comparison: WorldComparison
    ) -> [String] {
        let device = devices[sync.device]
        guard comparison.isExact else {
            // No hash was relied on, and those of what did not come now cannot be relied on later.
            devices[sync.device].mayGetAll()
            return []
        }
        let isMigration = sync.figures?.migration != nil
        if isMigration { mayGetFetched(answer, of: sync, comparison) }
        var complaints: [String] = []
        for (key, record) in answer.updated.sorted(by: { $0.key < $1.key })
        where !adrift.contains(key) && !answer.renamed.contains(key)
            && !(isMigration && (key.table == .notes || record.mark != 0))
        {
            guard let local = device.records[key], local.status == .synced, local.record == record else { continue }
            // It is unknown what the app has thrown away.
            if device.passedOver.contains(key) { continue }
            // Its parent has another id by now.
            if let reference = answer.references[key], reference != device.reference(of: key, record) { continue }
            // Of a type that was never compared no hash is relied on either, and it is streamed as a whole soon.
            if !comparison.untracked.isDisjoint(with: SimulatedSchema.requestTypes(key.table)) { continue }
            let count = devices[sync.device].mayGetAgain[key, default: 0]
            if count == 0 { complaints.append("\(key) is sent to \(device.name), which has it as it is") }
            // One that a pull saw whose stream had begun before the push may come twice.
            devices[sync.device].mayGetAgain[key] = count - 1
        }
        return complaints
    }

    /// Returns true if a record may go out again, because a migration has fetched it and it could not be read, or was
    /// held back.
    private func mayGetFetched(_ answer: SimulatedAnswer, of sync: WorldSync, _ comparison: WorldComparison) {
        let isHeldBack = (sync.figures?.diffed.heldBack ?? 0) > 0
        guard isHeldBack || comparison.isDamaged || hasDamage else { return }
        for key in devices[sync.device].records.keys
        where (key.table == .tasks || key.table == .notes) && answer.updated[key] == nil {
            devices[sync.device].mayGetAgain[key, default: 0] += 1
        }
    }

    /// True if the line of any row cannot be read now.
    var hasDamage: Bool { backend.rows.values.contains { $0.damage != .none } }

    /// Returns the records that a push writes: its own, and the descendants of those that it deletes, if the gateway
    /// deletes them.
    func touched(
        by pushed: [(key: SimulatedKey, value: SimulatedDevice.Local)], on device: Int
    ) -> Set<SimulatedKey> {
        var touched = Set(pushed.map(\.key))
        guard setup.cascades else { return touched }
        var parents = Set(pushed.filter { $0.value.status == .deleted }.map(\.key))
        while !parents.isEmpty {
            let children = devices.flatMap(\.records).filter { key, local in
                key.table.parent.map { parents.contains(SimulatedKey($0, local.record.parent)) } ?? false
            }
            parents = Set(children.map(\.key)).subtracting(touched)
            touched.formUnion(parents)
        }
        return touched
    }

    /// Expects an echo of pushed records on each device: once, and again if one comes before the push is over, whose
    /// end is unknown for a while unless it was answered.
    func expectEchoes(of keys: some Sequence<SimulatedKey>, isAnswered: Bool) {
        for index in devices.indices {
            for key in keys { devices[index].mayGetAgain[key, default: 0] += isAnswered ? 2 : 4 }
            devices[index].unheard.formUnion(keys)
        }
    }

    /// Finds the mistake in a deletion on a device; nil if there is none.
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
        // Once the state is lost, it is unknown that it may have gone to a feed that is not taken for now.
        if adrift.contains(key), key.table == .files, !backend.retired.isEmpty { return nil }
        // The backend has made it anew under an id of its own, and its line cannot be had for now (documented).
        if !backend.retired.isEmpty || row.damage != .none, device.id(of: key) != backend.ids.id(of: key) { return nil }
        if hasMovedUnread(key, on: device) { return nil }
        // The record of a line without an id is unknown.
        return row.damage == .withoutID ? nil : "\(key) is deleted on \(device.name), and was there all the time"
    }

    /// Returns true if the line could not be read that says where a record has gone, or one that it belongs to: with the
    /// old parent it goes, too (documented).
    private func hasMovedUnread(_ key: SimulatedKey, on device: SimulatedDevice) -> Bool {
        var next: SimulatedKey? = key
        // Folders may lie in a circle for a while.
        for _ in 0..<16 {
            guard let key = next, let row = backend.rows[key], let local = device.records[key] else { return false }
            if row.damage != .none, local.record.parent != row.record.parent {
                return key.table.parent.map { !backend.isVisible(SimulatedKey($0, local.record.parent)) } ?? true
            }
            next = key.table.parent.map { SimulatedKey($0, row.record.parent) }
        }
        return false
    }
}

// What must be true in the end.
extension Users {
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

    /// Returns true if the device's version is unknown until it has pushed a value that only version 2 has.
    private func hasToShow(_ device: SimulatedDevice) -> Bool { device.statedVersion == nil && device.version >= 2 }

    /// Returns true if it can never become known that the device has version 2: its pushes do not name the device.
    func isMute(_ device: SimulatedDevice) -> Bool { hasToShow(device) && setup.pushTime == .none }

    /// Describes how a device differs from the backend, beyond the limits of the protocol; nil if none does.
    ///
    /// Documented limits, with a ledger:
    /// - until the full comparison (`isCompared`): late commits, which streams have passed; lost tombstones, and
    ///   records that went with them; rows that moved between parents one of which went out of sight afterwards, for
    ///   which the protocol has no line; ids that were used again while their deletion was out of sight; records that
    ///   came when their own parent had not come or could not be read, and whose grandparent went out of sight then
    ///   (`orphans`); pushes that the backend refused in silence; records of a type whose comparison is under way,
    ///   because deletions were too many, a line could not be read, or the backend did not take the type for a while;
    /// - for ever: records that came and went while a state was in use that was lost afterwards: no entry is left of
    ///   them (finding 11); what only one of two copies of a device got, with an answer that the other went on
    ///   without, if it comes back after `rewind` (``setStraysAdrift(of:)``).
    ///
    /// Without a ledger, records that the stream does not name stay on devices (`forgotten`). The column of version 2
    /// is not checked on devices that never report it.
    ///
    /// - Parameters:
    ///   - isCompared: True if every type was compared since.
    ///   - comparing: True for each device with a type that is still to be compared.
    /// - Returns: A sentence, or nil.
    func difference(isCompared: Bool, comparing: [Bool]) -> String? {
        for (index, device) in devices.enumerated() {
            let isComparing = comparing[index]
            let version = isMute(device) ? 1 : device.version
            let shown = device.shown(to: version)
            let wanted = backend.visible(to: version)
            for key in Set(shown.keys).union(wanted.keys).sorted() where wanted[key] != shown[key] {
                if !isCompared, backend.untold.contains(key) { continue }
                // What was pushed is not judged by a comparison of the next minutes, but by the one after it, and what
                // belongs to it comes with it.
                if !isCompared, isComparing, isUnjudged(key, on: device) { continue }
                if wanted[key] == nil, isExcused(key, device, isCompared: isCompared, isComparing: isComparing) {
                    continue
                }
                let (have, want) = (shown[key]?.description ?? "nothing", wanted[key]?.description ?? "nothing")
                return "\(device.name) shows \(have) for \(key), the backend has \(want)"
            }
            if isCompared || !setup.hasLedger, backend.ids.isOn,
                let complaint = strayReferences(on: device, of: device.records.keys).first
            {
                return complaint
            }
            if let key = device.pending.keys.filter({ isCompared || !backend.untold.contains($0) }).min() {
                return "\(device.name) never gets rid of its edit of \(key)"
            }
        }
        return nil
    }

    /// Returns true if a record was pushed of late, or is missing because one was that it belongs to.
    private func isUnjudged(_ key: SimulatedKey, on device: SimulatedDevice) -> Bool {
        if device.mayGetAgain[key] != nil { return true }
        guard device.records[key] == nil, let table = key.table.parent, let parent = backend.rows[key]?.record.parent
        else { return false }
        let above = SimulatedKey(table, parent)
        return !parent.isEmpty && device.records[above] == nil && isUnjudged(above, on: device)
    }

    private func isExcused(
        _ key: SimulatedKey, _ device: SimulatedDevice, isCompared: Bool, isComparing: Bool
    ) -> Bool {
        if adrift.contains(key) || !isCompared && device.isOrphaned(key, or: adrift) { return true }
        guard setup.hasLedger else { return backend.forgotten.contains(key) }
        guard !isCompared else { return false }
        return backend.isCascadeLost || isComparing || withdrawn.contains(key)
    }
}
