// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// An app with WatermelonDB in it, as far as a gateway can tell: it reacts to answers as the real library does.
package struct SimulatedDevice {
    /// The library's status of a local record.
    enum Status { case synced, created, updated, deleted }

    struct Local: Equatable {
        var status: Status
        var record: SimulatedRecord
        /// True if the value was edited here; remote values do not change it then.
        var isValueChanged = false
        /// The same of the column that version 2 has added.
        var isMarkChanged = false
    }

    /// The information about its schema that an app sends with a pull.
    package enum Manners: String, CaseIterable, Hashable, Sendable {
        /// Its version.
        case version
        /// Its version, and what it lacks by its own account.
        case migration
        /// No information, as two thirds of apps do: its pushes show its schema.
        case nothing
        /// Its version, but only from version 2 on.
        case later
    }

    /// The name in traces.
    package let name: String
    /// The backend session that it is logged in to.
    package var session: Session
    /// Its schema version.
    package private(set) var version: Int
    /// The information about its schema that the app sends.
    package let manners: Manners
    /// LS, as the library keeps it.
    private var lastSchema: Int?
    /// `lastPulledAt`.
    package private(set) var cursor: Cursor?
    private(set) var records: [SimulatedKey: Local] = [:]
    /// The ids by which it knows records and names their parents, if the backend has made others of theirs.
    private(set) var names = Names()
    /// The backend's version of each record when the device last received it.
    private(set) var bases: [SimulatedKey: SimulatedRecord] = [:]
    /// The cursor from before the last pull, which sloppy apps send with a push.
    private(set) var cursorBefore: Cursor?
    /// The backend's version of each record at that cursor.
    private(set) var basesBefore: [SimulatedKey: SimulatedRecord] = [:]
    /// True if a sync is running: the app never runs two.
    var isSyncing = false
    /// Records that the device may receive once more without a change: those that a device has pushed since it last got
    /// them, and those whose hash the gateway cannot rely on.
    var mayGetAgain: [SimulatedKey: Int] = [:]
    /// Records that a device has pushed and that have not come since: the gateway knows no content of theirs.
    var unheard: Set<SimulatedKey> = []
    var expected: [SimulatedKey: Int] = [:]
    /// Records that came with a value in a column that the app did not have.
    private(set) var passedOver: Set<SimulatedKey> = []
    /// Records that came when their parent was not there, or that were made here and have lost it before they came.
    private(set) var orphans: Set<SimulatedKey> = []
    /// Records that were made here and have not come yet.
    private var unechoed: Set<SimulatedKey> = []
    /// A copy of the database on another disk.
    private(set) var backup: Backup?

    struct Names {
        var ids: [SimulatedKey: String] = [:]
        var references: [SimulatedKey: String] = [:]
    }

    struct Backup {
        var cursor: Cursor?
        var records: [SimulatedKey: Local]
        var bases: [SimulatedKey: SimulatedRecord]
        var names: Names
        var version: Int
        var lastSchema: Int?
        var madeAt: Instant
    }

    init(name: String, session: Session, version: Int, manners: Manners) {
        self.name = name
        self.session = session
        self.version = version
        self.manners = manners
    }

    /// The records that the user sees.
    package var shown: [SimulatedKey: SimulatedRecord] {
        records.filter { $0.value.status != .deleted }.mapValues(\.record)
    }

    /// Returns the records that the user of a client of this version sees.
    func shown(to version: Int) -> [SimulatedKey: SimulatedRecord] {
        shown.filter { $0.key.table != .notes || version >= 2 }.mapValues { $0.projected(to: version) }
    }

    /// Returns true if a record is one of ``orphans``, or a descendant of one, or of one of `others`.
    func isOrphaned(_ key: SimulatedKey, or others: Set<SimulatedKey>) -> Bool {
        var next: SimulatedKey? = key
        // Folders may lie in a circle for a while.
        for _ in 0..<16 {
            guard let key = next else { return false }
            if orphans.contains(key) || others.contains(key) { return true }
            next = key.table.parent.flatMap { table in records[key].map { SimulatedKey(table, $0.record.parent) } }
        }
        return false
    }

    /// Returns the id by which it knows a record.
    func id(of key: SimulatedKey) -> String { names.ids[key] ?? key.id }

    /// Returns the id by which a record names its parent.
    func reference(of key: SimulatedKey, _ record: SimulatedRecord) -> String {
        names.references[key] ?? record.parent
    }

    /// The changes that wait to be pushed.
    var pending: [SimulatedKey: Local] { records.filter { $0.value.status != .synced } }

    /// Returns a copy on another phone.
    func cloned(as name: String) -> Self {
        var clone = Self(name: name, session: session, version: version, manners: manners)
        clone.lastSchema = lastSchema
        clone.cursor = cursor
        clone.cursorBefore = cursorBefore
        (clone.records, clone.bases, clone.names) = (records, bases, names)
        (clone.mayGetAgain, clone.unheard) = (mayGetAgain, unheard)
        clone.orphans = orphans
        clone.unechoed = unechoed
        clone.passedOver = passedOver
        return clone
    }

    mutating func mayGetAll() {
        for key in records.keys { mayGetAgain[key, default: 0] += 1 }
    }

    mutating func saveBackup(now: Instant) {
        backup = Backup(
            cursor: cursor, records: records, bases: bases, names: names, version: version, lastSchema: lastSchema,
            madeAt: now)
    }

    /// Brings back a database, and the app of that time if `withApp`; else the app brings the schema up to its own,
    /// where what it adds is at its default.
    mutating func restoreBackup(withApp: Bool) {
        guard let backup else { return }
        (cursor, records, bases, lastSchema) = (backup.cursor, backup.records, backup.bases, backup.lastSchema)
        names = backup.names
        if withApp { version = backup.version }
        cursorBefore = nil
    }
}

// Schema versions.
extension SimulatedDevice {
    /// `migrationsEnabledAtVersion`.
    private static let migrationsEnabledAt = 1

    /// The schema version that it tells.
    package var statedVersion: Int? {
        switch manners {
        case .version, .migration: version
        case .nothing: nil
        case .later: version < 2 ? nil : version
        }
    }

    /// The migration that it sends, by the library's rules.
    var asked: Migration? {
        let isBehind = lastSchema ?? Self.migrationsEnabledAt < version
        return manners == .migration && cursor != nil && isBehind ? SimulatedSchema.migration : nil
    }

    /// Gets the app of version 2: what that adds is empty, or at its default.
    mutating func update() { version = 2 }
}

// Local edits.
extension SimulatedDevice {
    mutating func create(_ key: SimulatedKey, _ record: SimulatedRecord) {
        guard records[key] == nil else { return }
        unechoed.insert(key)
        records[key] = Local(status: .created, record: record)
        guard let table = key.table.parent, !record.parent.isEmpty else { return }
        names.references[key] = id(of: SimulatedKey(table, record.parent))
    }

    mutating func edit(_ key: SimulatedKey, value: Int) {
        change(key) { local in
            local.record.value = value
            local.isValueChanged = true
        }
    }

    /// Writes into the added column, where the app has it.
    mutating func mark(_ key: SimulatedKey, _ mark: Int) {
        guard version >= 2 else { return }
        change(key) { local in
            local.record.mark = mark
            local.isMarkChanged = true
        }
    }

    private mutating func change(_ key: SimulatedKey, _ change: (inout Local) -> Void) {
        guard var local = records[key], local.status != .deleted else { return }
        change(&local)
        if local.status == .synced { local.status = .updated }
        records[key] = local
    }

    mutating func delete(_ key: SimulatedKey) { records[key]?.status = .deleted }
}

// What the library does with answers.
extension SimulatedDevice {
    /// Applies an answer in one local transaction.
    ///
    /// Tables and columns that it does not have it passes over.
    mutating func apply(_ answer: SimulatedAnswer) {
        if cursor == nil || asked != nil { lastSchema = version }
        basesBefore = bases
        for key in answer.renamed { records[key] = nil }
        for (key, record) in answer.created { upsert(key, record, revives: true) }
        for (key, record) in answer.updated { upsert(key, record, revives: false) }
        for key in answer.deleted { records[key] = nil }
        for key in unechoed {
            guard let parent = key.table.parent, let id = records[key]?.record.parent else { continue }
            if answer.deleted.contains(SimulatedKey(parent, id)) { orphans.insert(key) }
        }
        for (key, record) in answer.created.merging(answer.updated, uniquingKeysWith: { $1 }) {
            guard let parent = key.table.parent, !record.parent.isEmpty,
                records[SimulatedKey(parent, record.parent)] == nil
            else {
                continue
            }
            orphans.insert(key)
        }
        names.ids.merge(answer.names) { $1 }
        for (key, reference) in answer.references {
            // What the device has deleted stays as it is.
            let came = answer.created[key] ?? answer.updated[key]
            if records[key]?.record.parent == came?.parent { names.references[key] = reference }
        }
        cursorBefore = cursor
        cursor = Cursor(rawValue: answer.timestamp)
    }

    private mutating func upsert(_ key: SimulatedKey, _ record: SimulatedRecord, revives: Bool) {
        if key.table == .notes, version < 2 { return }
        unechoed.remove(key)
        unheard.remove(key)
        bases[key] = record
        if version < 2, record.mark != 0 { passedOver.insert(key) }
        let record = record.projected(to: version)
        guard var local = records[key], !(local.status == .deleted && revives) else {
            records[key] = Local(status: .synced, record: record)
            return
        }
        guard local.status != .deleted else { return }
        local.record.parent = record.parent
        if !local.isValueChanged { local.record.value = record.value }
        if !local.isMarkChanged { local.record.mark = record.mark }
        records[key] = local
    }

    /// Marks what was pushed as synced, where it was not edited meanwhile, without what the answer has rejected.
    mutating func markPushed(_ pushed: [(key: SimulatedKey, local: Local)], without rejected: Set<SimulatedKey>) {
        for (key, sent) in pushed where !rejected.contains(key) {
            guard let local = records[key] else { continue }
            if sent.status == .deleted {
                if local.status == .deleted { records[key] = nil }
            } else if local == sent {
                records[key] = Local(status: .synced, record: local.record)
            }
        }
    }
}
