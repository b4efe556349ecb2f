// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A backend with the manners of the streaming protocol that hurt, in memory.
///
/// Sessions with checkpoints that acks set unconditionally, checkpoints that it writes by itself, backfill after a
/// project is granted, revocation that says nothing about children, deletions that are pruned after 31 days and refused
/// to be forgotten after 30, a reset flag, transactions that commit late, lost tombstones, lines that cannot be read,
/// and streams whose queries run at different times.
package struct SimulatedBackend {
    /// The fault of a row's line.
    enum Damage { case none, unreadable, withoutID }

    struct Row {
        var record: SimulatedRecord
        /// The time of the last change, in the backend's own count.
        var update: Int
        /// The time of the last change in each feed, for files.
        var feeds: [String: Int] = [:]
        var damage = Damage.none
        /// The time of the last change of its value or parent, and the device that made it; nil for no device.
        var changed = 0
        var changedBy: Int?
    }

    struct Audit {
        var number: Int
        var namespace: String
        /// The record; of a deletion by column the value.
        var key: SimulatedKey
        /// The id that the record had then.
        var id: String
        var day: Int
        var project: String
    }

    struct SessionState {
        var checkpoints: [String: String] = [:]
        var isResetPending = false
    }

    /// A transaction that took its number when it began.
    struct Late {
        var key: SimulatedKey
        var value: Int
        var update: Int
    }

    var rows: [SimulatedKey: Row] = [:]
    var ids = SimulatedIDs()
    var audits: [Audit] = []
    /// The projects that the user is a member of, with the number of the grant.
    var members: [String: Int] = [:]
    var sessions: [String: SessionState] = [:]
    var day = 0
    /// The number of changes so far.
    package private(set) var counter = 0
    /// Since when each record that is visible now has been so.
    private(set) var visibleSince: [SimulatedKey: Int] = [:]
    /// All records that ever existed.
    private(set) var everSeen: Set<SimulatedKey> = []
    var late: [Late] = []
    /// The request types that it does not take for now, and whether its refusal names them or those that it takes.
    var retired: Set<String> = []
    var namesRetired = true
    /// The rows that a backend restored from an empty dump has lost for a while.
    var vanished: [SimulatedKey: Row]?
    /// The rows that came back after an empty dump was restored.
    var restored: Set<SimulatedKey> = []
    /// Records with ids of the backend's whose creation was never answered.
    ///
    /// If they come back after Rind has looked for them in vain, there are two of them (docs/IDS.md).
    var unanswered: Set<SimulatedKey> = []

    /// Records whose deletion the stream does not name: children of revoked parents, lost or pruned tombstones.
    ///
    /// Without a ledger they stay on devices.
    var forgotten: Set<SimulatedKey> = []
    /// Records whose changes the stream has missed: late commits, lost tombstones, rows moved away, lost pushes.
    ///
    /// Until the full comparison devices may differ in them.
    var untold: Set<SimulatedKey> = []
    /// The comments that went with a deleted task, by the task's id.
    var lostComments: [String: Set<SimulatedKey>] = [:]
    /// True if the deletion of a record was lost that may have had children on devices.
    var isCascadeLost = false

    mutating func tick() -> Int {
        counter += 1
        return counter
    }

    func isVisible(_ key: SimulatedKey) -> Bool {
        guard let row = rows[key] else { return false }
        switch key.table {
        case .projects: return members[key.id] != nil
        case .tasks: return members[row.record.parent] != nil
        case .comments: return isVisible(SimulatedKey(.tasks, row.record.parent))
        case .folders, .files, .notes: return true
        }
    }

    /// Returns all records that a client of this schema version should have.
    package func visible(to version: Int) -> [SimulatedKey: SimulatedRecord] {
        rows.filter { (key, _) in isVisible(key) && (key.table != .notes || version >= 2) }
            .mapValues { $0.record.projected(to: version) }
    }

    func ids(_ table: SimulatedTable) -> [String] { rows.keys.filter { $0.table == table }.map(\.id).sorted() }

    /// Returns the project that decides who sees a task or a comment; empty for other records.
    func project(of key: SimulatedKey) -> String {
        guard let record = rows[key]?.record else { return "" }
        switch key.table {
        case .tasks: return record.parent
        case .comments: return project(of: SimulatedKey(.tasks, record.parent))
        default: return ""
        }
    }

    func comments(of task: String) -> [SimulatedKey] {
        rows.filter { $0.key.table == .comments && $0.value.record.parent == task }.keys.sorted()
    }

    /// Notes which records are visible; must be called after every change.
    mutating func noteVisibility() {
        let before = visibleSince
        visibleSince = [:]
        for key in rows.keys where isVisible(key) {
            visibleSince[key] = before[key] ?? counter
            everSeen.insert(key)
        }
    }
}

// Request types.
extension SimulatedBackend {
    /// Returns the types of a request that the 400 names; nil if all of them are taken.
    func refusal(of types: [String]) -> [String]? {
        guard !retired.isDisjoint(with: types) else { return nil }
        return types.filter { retired.contains($0) == namesRetired }
    }

    /// Gives request types up, or takes them again.
    mutating func retire(_ choice: Int) {
        guard retired.isEmpty else {
            retired = []
            return
        }
        let types = ["ProjectsV1", "ProjectsV1", "ProjectsV2", "NotesV1", "TasksV1", "CommentsV1", "PartnerFilesV1"]
        retired = [types[choice % types.count]]
        if choice % 4 == 3 { retired.insert(types[choice / 4 % types.count]) }
        namesRetired = choice % 2 == 0
    }
}

// The checkpoint calls.
extension SimulatedBackend {
    mutating func acknowledge(_ tokens: [String], session: String) {
        if tokens.contains(SimulatedSchema.resetToken) {
            sessions[session] = SessionState()
            return
        }
        for token in tokens {
            let namespace = String(token.prefix { $0 != "|" })
            sessions[session, default: SessionState()].checkpoints[namespace] = token
        }
    }

    mutating func forget(_ namespaces: [String]?, session: String) {
        guard let namespaces else {
            sessions[session, default: SessionState()].checkpoints = [:]
            return
        }
        for namespace in namespaces { sessions[session]?.checkpoints[namespace] = nil }
    }

    /// Returns the checkpoint of a session for one namespace.
    package func checkpoint(_ namespace: String, session: String) -> String? {
        sessions[session]?.checkpoints[namespace]
    }

    func checkpoints(session: String) -> [String: String] { sessions[session]?.checkpoints ?? [:] }
}
