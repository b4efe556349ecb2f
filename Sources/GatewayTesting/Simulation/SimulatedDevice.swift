// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// An app with WatermelonDB in it, as far as a gateway can tell: it reacts to answers as the real library does.
package struct SimulatedDevice {
    /// What the library notes about each local record.
    enum Status { case synced, created, updated, deleted }

    struct Local: Equatable {
        var status: Status
        var record: SimulatedRecord
        /// Whether the value was edited here; remote values do not touch it then.
        var isValueChanged = false
    }

    /// For traces.
    package let name: String
    /// The backend session that it is logged in to.
    package var session: Session
    /// Its schema version.
    package var version: Int
    /// `lastPulledAt`.
    package private(set) var cursor: Cursor?
    private(set) var records: [SimulatedKey: Local] = [:]
    /// The cursor from before the last pull, which sloppy apps send with a push.
    private(set) var cursorBefore: Cursor?
    /// Whether one sync is running: the app never runs two.
    var isSyncing = false
    /// Records of which the device may once be sent what it has: those that somebody has pushed since it last got them,
    /// and those whose hash the gateway cannot rely on.
    var mayGetAgain: [SimulatedKey: Int] = [:]
    var expected: [SimulatedKey: Int] = [:]
    /// Records that came when their parent was not there.
    private(set) var orphans: Set<SimulatedKey> = []
    /// A copy of the database on another disk.
    private(set) var backup: Backup?

    struct Backup {
        var cursor: Cursor?
        var records: [SimulatedKey: Local]
        var madeAt: Int64
    }

    init(name: String, session: Session, version: Int) {
        self.name = name
        self.session = session
        self.version = version
    }

    /// What a person sees on the screen.
    package var shown: [SimulatedKey: SimulatedRecord] {
        records.filter { $0.value.status != .deleted }.mapValues(\.record)
    }

    /// What waits to be pushed.
    var pending: [SimulatedKey: Local] { records.filter { $0.value.status != .synced } }

    /// A copy on another phone.
    func cloned(as name: String) -> Self {
        var clone = Self(name: name, session: session, version: version)
        clone.cursor = cursor
        clone.cursorBefore = cursorBefore
        clone.records = records
        clone.mayGetAgain = mayGetAgain
        clone.orphans = orphans
        return clone
    }

    mutating func mayGetAll() {
        for key in records.keys { mayGetAgain[key, default: 0] += 1 }
    }

    mutating func saveBackup(now: Int64) { backup = Backup(cursor: cursor, records: records, madeAt: now) }

    mutating func restoreBackup() {
        guard let backup else { return }
        (cursor, records) = (backup.cursor, backup.records)
        cursorBefore = nil
    }
}

// Local edits.
extension SimulatedDevice {
    mutating func create(_ key: SimulatedKey, _ record: SimulatedRecord) {
        guard records[key] == nil else { return }
        records[key] = Local(status: .created, record: record)
    }

    mutating func edit(_ key: SimulatedKey, value: Int) {
        guard var local = records[key], local.status != .deleted else { return }
        local.record.value = value
        local.isValueChanged = true
        if local.status == .synced { local.status = .updated }
        records[key] = local
    }

    mutating func delete(_ key: SimulatedKey) { records[key]?.status = .deleted }
}

// What the library does with answers.
extension SimulatedDevice {
    /// Applies an answer in one local transaction.
    mutating func apply(_ answer: SimulatedAnswer) {
        for (key, record) in answer.created { upsert(key, record, revives: true) }
        for (key, record) in answer.updated { upsert(key, record, revives: false) }
        for key in answer.deleted { records[key] = nil }
        for (key, record) in answer.created.merging(answer.updated, uniquingKeysWith: { $1 }) {
            let parent: SimulatedTable? = key.table == .comments ? .tasks : key.table == .folders ? .folders : nil
            guard let parent, !record.parent.isEmpty, records[SimulatedKey(parent, record.parent)] == nil else {
                continue
            }
            orphans.insert(key)
        }
        cursorBefore = cursor
        cursor = Cursor(rawValue: answer.timestamp)
    }

    private mutating func upsert(_ key: SimulatedKey, _ record: SimulatedRecord, revives: Bool) {
        if key.table == .notes, version < 2 { return }
        guard var local = records[key], !(local.status == .deleted && revives) else {
            records[key] = Local(status: .synced, record: record)
            return
        }
        guard local.status != .deleted else { return }
        local.record.parent = record.parent
        if !local.isValueChanged { local.record.value = record.value }
        records[key] = local
    }

    /// Marks what was pushed as synced, where it was not edited meanwhile.
    mutating func markPushed(_ pushed: [(key: SimulatedKey, local: Local)]) {
        for (key, sent) in pushed {
            guard let local = records[key] else { continue }
            if sent.status == .deleted {
                if local.status == .deleted { records[key] = nil }
            } else if local == sent {
                records[key] = Local(status: .synced, record: local.record)
            }
        }
    }
}
