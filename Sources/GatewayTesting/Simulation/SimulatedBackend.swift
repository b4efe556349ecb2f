// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A backend with the manners of the streaming protocol that hurt, in memory.
///
/// Sessions with checkpoints that acks set unconditionally, checkpoints that it writes by itself, backfill after a
/// project is granted, revocation that says nothing about children, deletions that are pruned after 31 days and refused
/// to be forgotten after 30, a reset flag, and streams whose queries run at different times.
package struct SimulatedBackend {
    struct Row {
        var record: SimulatedRecord
        /// When it last changed, in the backend's own count.
        var update: Int
        /// For files: when each source last changed it.
        var sources: [String: Int] = [:]
    }

    struct Audit {
        var number: Int
        var namespace: String
        var key: SimulatedKey
        var day: Int
        var project: String
    }

    struct SessionState {
        var checkpoints: [String: String] = [:]
        var isResetPending = false
    }

    var rows: [SimulatedKey: Row] = [:]
    var audits: [Audit] = []
    /// The projects that the user is a member of, with the number of the grant.
    var members: [String: Int] = [:]
    var sessions: [String: SessionState] = [:]
    var day = 0
    private var counter = 0
    /// Records whose deletion the protocol cannot tell: children of revoked parents, lost or pruned tombstones.
    private(set) var forgotten: Set<SimulatedKey> = []
    /// Records that a device pushed into a project that was gone: the backend has refused them silently.
    private(set) var refused: Set<SimulatedKey> = []

    mutating func tick() -> Int {
        counter += 1
        return counter
    }

    func isVisible(_ key: SimulatedKey) -> Bool {
        guard let row = rows[key] else { return false }
        switch key.table {
        case .projects: return members[key.id] != nil
        case .tasks: return members[row.record.parent] != nil
        case .files, .notes: return true
        }
    }

    /// Everything that a client of this schema version should have.
    func visible(to version: Int) -> [SimulatedKey: SimulatedRecord] {
        rows.filter { (key, _) in isVisible(key) && (key.table != .notes || version >= 2) }.mapValues(\.record)
    }

    func ids(_ table: SimulatedTable) -> [String] { rows.keys.filter { $0.table == table }.map(\.id).sorted() }
}

// Writes.
extension SimulatedBackend {
    mutating func put(_ key: SimulatedKey, _ record: SimulatedRecord, source: Int = 0) {
        let now = tick()
        var row = rows[key] ?? Row(record: record, update: now)
        row.record = record
        row.update = now
        if key.table == .files {
            if row.sources.isEmpty { row.sources[SimulatedSchema.fileSources[source]] = now }
            for name in row.sources.keys { row.sources[name] = now }
        }
        rows[key] = row
        if key.table == .projects, members[key.id] == nil { members[key.id] = tick() }
    }

    mutating func remove(_ key: SimulatedKey) {
        guard let row = rows[key] else { return }
        switch key.table {
        case .projects:
            forgetChildren(of: key.id)
            audit(SimulatedSchema.projectDelete, key)
            members[key.id] = nil
            for task in rows.keys.sorted() where task.table == .tasks && rows[task]?.record.parent == key.id {
                rows[task] = nil
            }
        case .tasks: audit(SimulatedSchema.taskDelete, key, project: row.record.parent)
        case .files:
            for (source, delete) in zip(SimulatedSchema.fileSources, SimulatedSchema.fileDeletes)
            where row.sources[source] != nil { audit(delete, key) }
        case .notes: audit("NoteDeleteV1", key)
        }
        rows[key] = nil
    }

    /// A file changes its source in one transaction.
    mutating func moveFile(_ key: SimulatedKey) {
        guard let source = rows[key]?.sources.keys.first else { return }
        let from = source == SimulatedSchema.fileSources[0] ? 0 : 1
        let now = tick()
        rows[key]?.sources = [SimulatedSchema.fileSources[1 - from]: now]
        rows[key]?.update = now
        audit(SimulatedSchema.fileDeletes[from], key)
    }

    mutating func grant(_ project: String) {
        guard members[project] == nil, rows[SimulatedKey(.projects, project)] != nil else { return }
        members[project] = tick()
        let now = tick()
        rows[SimulatedKey(.projects, project)]?.update = now
    }

    mutating func revoke(_ project: String) {
        guard members[project] != nil else { return }
        forgetChildren(of: project)
        members[project] = nil
        audit(SimulatedSchema.projectDelete, SimulatedKey(.projects, project))
    }

    /// Brings everybody to an older state of things: rows change and vanish without trace, and a reset says so.
    mutating func reset(_ choice: Int) {
        for key in rows.keys.sorted() where key.table == .tasks { rows[key]?.record.value += 1_000 }
        let tasks = ids(.tasks)
        if !tasks.isEmpty {
            let lost = SimulatedKey(.tasks, tasks[choice % tasks.count])
            rows[lost] = nil
            forgotten.insert(lost)
        }
        forgotten.formUnion(audits.map(\.key))
        audits = []
        for name in sessions.keys { sessions[name]?.isResetPending = true }
    }

    mutating func pass(days: Int) {
        day += days
        forgotten.formUnion(audits.filter { $0.day <= day - 31 }.map(\.key))
        audits.removeAll { $0.day <= day - 31 }
    }

    /// One operation of a push; last write wins, and what cannot be is passed over.
    mutating func push(_ key: SimulatedKey, _ record: SimulatedRecord?) {
        guard let record else { return remove(key) }
        switch key.table {
        case .tasks where members[record.parent] == nil: refused.insert(key)
        case .projects where members[key.id] == nil: refused.insert(key)
        case .files where rows[key] == nil: refused.insert(key)
        default: put(key, record)
        }
    }

    private mutating func forgetChildren(of project: String) {
        forgotten.formUnion(rows.filter { $0.key.table == .tasks && $0.value.record.parent == project }.keys)
        forgotten.formUnion(audits.filter { $0.project == project }.map(\.key))
    }

    private mutating func audit(_ namespace: String, _ key: SimulatedKey, project: String = "") {
        audits.append(Audit(number: tick(), namespace: namespace, key: key, day: day, project: project))
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

    /// What a session holds for one namespace.
    package func checkpoint(_ namespace: String, session: String) -> String? {
        sessions[session]?.checkpoints[namespace]
    }

    func checkpoints(session: String) -> [String: String] { sessions[session]?.checkpoints ?? [:] }
}
