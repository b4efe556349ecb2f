// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Holds the ids that a backend makes for records that clients create.
///
/// A world names every record by one id for good: its maker's. Only what goes over the wire carries the ids of this
/// table, in records, references and deletions, and a device may know a record by either.
struct SimulatedIDs {
    private struct Made {
        /// The backend's id.
        var id: String
        /// The id that the client sent with the creation; the stream gives it back.
        var clientID: String
    }

    /// True if the backend makes ids at all.
    var isOn = false
    private var made: [SimulatedKey: Made] = [:]
    /// The record behind each id that was ever made.
    private var keys: [SimulatedKey: SimulatedKey] = [:]

    /// Returns true if new records of the table get their ids from the backend.
    func makes(_ table: SimulatedTable) -> Bool { isOn && (table == .tasks || table == .comments || table == .notes) }

    /// Returns the record that a device or the backend knows by this id.
    func key(_ table: SimulatedTable, _ id: String) -> SimulatedKey {
        let named = SimulatedKey(table, id)
        return keys[named] ?? named
    }

    /// Returns the backend's id of a record.
    func id(of key: SimulatedKey) -> String { made[key]?.id ?? key.id }

    /// Returns the id that a client has made for a record; nil if the backend never heard of one.
    func clientID(of key: SimulatedKey) -> String? { made[key]?.clientID }

    /// Makes an id for a record that a client creates, another one each time.
    mutating func make(for key: SimulatedKey, clientID: String) {
        let id = "x\(keys.count)"
        made[key] = Made(id: id, clientID: clientID)
        keys[SimulatedKey(key.table, id)] = key
    }
}
