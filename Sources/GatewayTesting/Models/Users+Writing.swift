// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// What a directed schedule does at the backend and on devices.
extension Users {
    /// Writes a task; the column of version 2 stays unchanged unless a value is given.
    package func putTask(_ id: String, _ value: Int, in project: String = "p0", mark: Int? = nil) {
        let key = SimulatedKey(.tasks, id)
        let mark = mark ?? backend.rows[key]?.record.mark ?? 0
        backend.put(key, SimulatedRecord(value: value, parent: project, mark: mark))
    }

    /// Writes a record of any table.
    package func put(_ table: SimulatedTable, _ id: String, value: Int, in parent: String = "", feed: Int = 0) {
        backend.put(SimulatedKey(table, id), SimulatedRecord(value: value, parent: parent), feed: feed)
    }

    /// Deletes a task, with a tombstone.
    package func removeTask(_ id: String) { remove(.tasks, id) }

    /// Deletes a record, with a tombstone.
    package func remove(_ table: SimulatedTable, _ id: String) { backend.remove(SimulatedKey(table, id)) }

    /// Makes the backend refuse requests for these types, and no others; the refusal names them, or else those that it
    /// takes.
    package func retire(_ types: Set<String>, namingThem: Bool = true) {
        backend.retired = types
        backend.namesRetired = namingThem
    }

    /// Takes the project out of sight, with everything in it.
    package func revoke(_ project: String) { backend.revoke(project) }

    /// Brings the project into sight, with everything in it.
    package func grant(_ project: String) { backend.grant(project) }

    /// Makes the line of a row unreadable, its id too if `hidesID`.
    package func damage(_ table: SimulatedTable, _ id: String, hidesID: Bool = false) {
        backend.damage(SimulatedKey(table, id), hidesID ? 0 : 1)
    }

    /// Returns the value of a task on a device; nil if it is not there.
    package func task(_ id: String, on device: Int) -> Int? { value(.tasks, id, on: device) }

    /// Returns a device's value of the column that version 2 has added to tasks; nil if the task is not there.
    package func mark(_ id: String, on device: Int) -> Int? { devices[device].shown[SimulatedKey(.tasks, id)]?.mark }

    /// Returns the value of a record on a device; nil if it is not there.
    package func value(_ table: SimulatedTable, _ id: String, on device: Int) -> Int? {
        devices[device].shown[SimulatedKey(table, id)]?.value
    }

    /// Writes a record on a device, new or not, as its user does.
    package func write(_ table: SimulatedTable, _ id: String, value: Int, in parent: String = "", on device: Int) {
        let key = SimulatedKey(table, id)
        if devices[device].records[key] == nil {
            devices[device].create(key, SimulatedRecord(value: value, parent: parent))
        } else {
            devices[device].edit(key, value: value)
        }
    }

    /// Deletes a record on a device, as its user does.
    package func delete(_ table: SimulatedTable, _ id: String, on device: Int) {
        devices[device].delete(SimulatedKey(table, id))
    }

    /// Returns true if a change of the record waits on a device to be pushed.
    package func hasPending(_ table: SimulatedTable, _ id: String, on device: Int) -> Bool {
        devices[device].pending[SimulatedKey(table, id)] != nil
    }

    /// Applies what was delayed: an operation of a push, or a transaction's commit.
    func arriveLate() {
        backend.commitLate()
        guard !latePushes.isEmpty else { return }
        let late = latePushes.removeFirst()
        note("a late push arrives: \(late.key)")
        backend.push(late.key, late.local, clientID: late.clientID)
    }
}
