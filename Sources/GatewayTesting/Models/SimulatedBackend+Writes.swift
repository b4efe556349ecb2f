// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// The actions of users and of other programs.
extension SimulatedBackend {
    mutating func put(_ key: SimulatedKey, _ record: SimulatedRecord, feed: Int = 0) {
        defer { noteVisibility() }
        let now = tick()
        if key.table == .tasks, let old = rows[key]?.record.parent, old != record.parent {
            // Whoever loses sight of the new project before the next pull is told nothing; comments go along.
            untold.insert(key)
            for comment in comments(of: key.id) {
                untold.insert(comment)
                let update = tick()
                rows[comment]?.update = update
            }
        }
        if key.table == .folders, let old = rows[key]?.record.parent, old != record.parent { untold.insert(key) }
        var row = rows[key] ?? Row(record: record, update: now, changed: now)
        if row.record.projected(to: 1) != record.projected(to: 1) { (row.changed, row.changedBy) = (now, nil) }
        row.record = record
        row.update = now
        if key.table == .files {
            if row.feeds.isEmpty { row.feeds[SimulatedSchema.fileFeeds[feed]] = now }
            for name in row.feeds.keys { row.feeds[name] = now }
        }
        rows[key] = row
        if key.table == .projects, members[key.id] == nil { members[key.id] = tick() }
    }

    mutating func remove(_ key: SimulatedKey) {
        guard let row = rows[key] else { return }
        defer { noteVisibility() }
        switch key.table {
        case .projects:
            forgetChildren(of: key.id)
            audit(SimulatedSchema.deletes(.projects), key)
            members[key.id] = nil
            for task in ids(.tasks) where rows[SimulatedKey(.tasks, task)]?.record.parent == key.id {
                dropTask(task)
            }
        case .tasks:
            audit(SimulatedSchema.deletes(.tasks), key, project: row.record.parent)
            dropTask(key.id)
        case .folders:
            audit(SimulatedSchema.deletes(.folders), key)
            dropFolder(key.id)
        case .files:
            for (feed, delete) in zip(SimulatedSchema.fileFeeds, SimulatedSchema.fileDeletes)
            where row.feeds[feed] != nil { audit(delete, key) }
        case .comments, .notes:
            // The line is for those who see the project, whatever becomes of the task later.
            if key.table == .comments, !isVisible(key) { untold.insert(key) }
            audit(SimulatedSchema.deletes(key.table), key, project: project(of: key))
        }
        rows[key] = nil
    }

    private mutating func dropTask(_ id: String) {
        for comment in comments(of: id) {
            forgotten.insert(comment)
            lostComments[id, default: []].insert(comment)
            // Were the task to come back, nothing would be said about them.
            if untold.contains(SimulatedKey(.tasks, id)) { untold.insert(comment) }
            rows[comment] = nil
        }
        rows[SimulatedKey(.tasks, id)] = nil
    }

    private mutating func dropFolder(_ id: String) {
        for child in ids(.folders) where rows[SimulatedKey(.folders, child)]?.record.parent == id {
            forgotten.insert(SimulatedKey(.folders, child))
            if untold.contains(SimulatedKey(.folders, id)) { untold.insert(SimulatedKey(.folders, child)) }
            dropFolder(child)
        }
        rows[SimulatedKey(.folders, id)] = nil
    }

    /// Returns true if a folder lies in another one, or is it.
    func isFolder(_ id: String, within other: String) -> Bool {
        var folder = id
        while folder != other {
            guard let parent = rows[SimulatedKey(.folders, folder)]?.record.parent, !parent.isEmpty else {
                return false
            }
            folder = parent
        }
        return true
    }

    /// Moves a file from one feed to the other in one transaction.
    mutating func moveFile(_ key: SimulatedKey) {
        guard let feed = rows[key]?.feeds.keys.sorted().first else { return }
        let from = feed == SimulatedSchema.fileFeeds[0] ? 0 : 1
        let now = tick()
        rows[key]?.feeds = [SimulatedSchema.fileFeeds[1 - from]: now]
        rows[key]?.update = now
        audit(SimulatedSchema.fileDeletes[from], key)
    }

    /// Adds a file to the other feed too, or takes it back to one.
    mutating func shareFile(_ key: SimulatedKey) {
        guard let feeds = rows[key]?.feeds, let feed = feeds.keys.sorted().first else { return }
        let now = tick()
        if feeds.count == 2 {
            rows[key]?.feeds[feed] = nil
            audit(SimulatedSchema.fileDeletes[feed == SimulatedSchema.fileFeeds[0] ? 0 : 1], key)
        } else {
            let other = feed == SimulatedSchema.fileFeeds[0] ? 1 : 0
            rows[key]?.feeds[SimulatedSchema.fileFeeds[other]] = now
            rows[key]?.update = now
        }
    }

    /// Removes everything that one owner has shared, as the partner does: one line for all.
    mutating func purge(owner: String) {
        defer { noteVisibility() }
        for key in rows.keys.sorted() where key.table == .files && rows[key]?.record.parent == owner {
            rows[key]?.feeds[SimulatedSchema.fileFeeds[1]] = nil
            if rows[key]?.feeds.isEmpty == true {
                forgotten.insert(key)
                rows[key] = nil
            }
        }
        audit(SimulatedSchema.filePurge, SimulatedKey(.files, owner))
    }

    mutating func grant(_ project: String) {
        guard members[project] == nil, rows[SimulatedKey(.projects, project)] != nil else { return }
        members[project] = tick()
        let now = tick()
        rows[SimulatedKey(.projects, project)]?.update = now
        untold.formUnion(rows.keys.filter(hasLateDeletion))
        noteVisibility()
    }

    mutating func revoke(_ project: String) {
        guard members[project] != nil else { return }
        forgetChildren(of: project)
        members[project] = nil
        audit(SimulatedSchema.deletes(.projects), SimulatedKey(.projects, project))
        noteVisibility()
    }

    /// Applies one operation of a push; the last write wins, and an impossible one is silently ignored.
    ///
    /// An added column changes only if the operation has a value for it, because not all devices have it. A creation
    /// with a client's id gets one of the backend's, which another record never has; without one, a missing record
    /// stays missing.
    mutating func push(_ key: SimulatedKey, _ local: SimulatedDevice.Local, clientID: String? = nil) {
        guard local.status != .deleted else { return remove(key) }
        if ids.makes(key.table), rows[key] == nil {
            guard let clientID else { return }
            ids.make(for: key, clientID: clientID)
        }
        var record = local.record
        if !local.isMarkChanged { record.mark = rows[key]?.record.mark ?? record.mark }
        let isRefused =
            switch key.table {
            case .tasks: members[record.parent] == nil || rows[SimulatedKey(.projects, record.parent)] == nil
            case .projects: members[key.id] == nil
            case .comments: !isVisible(SimulatedKey(.tasks, record.parent))
            case .folders: rows[key] == nil && rows[SimulatedKey(.folders, record.parent)] == nil && record.parent != ""
            case .files: rows[key] == nil
            case .notes: false
            }
        guard !isRefused else {
            untold.insert(key)
            return
        }
        // Of a task that is made again nobody hears that it was deleted under its old id (docs/IDS.md).
        if key.table == .tasks, ids.makes(.tasks), rows[key] == nil { untold.formUnion(lostComments[key.id] ?? []) }
        // Only the backend's own users put folders elsewhere.
        if key.table == .folders, let row = rows[key] { record.parent = row.record.parent }
        put(key, record)
    }

    /// Returns true if the record's deletion became visible when the record was there again.
    func hasLateDeletion(_ key: SimulatedKey) -> Bool {
        audits.contains { $0.key == key && members[$0.project] ?? 0 > $0.number }
    }

    private mutating func forgetChildren(of project: String) {
        for key in rows.keys where self.project(of: key) == project {
            forgotten.insert(key)
            guard key.table == .comments, let task = rows[key]?.record.parent else { continue }
            if untold.contains(SimulatedKey(.tasks, task)) { untold.insert(key) }
        }
        forgotten.formUnion(audits.filter { $0.project == project }.map(\.key))
        // Were their task to go elsewhere, nobody would hear of their deletion.
        let hidden = audits.filter { $0.project == project }.map(\.key)
        untold.formUnion(hidden.filter { $0.table == .comments })
        // Nor would anybody hear that those went which belonged to a task that was deleted before it came back.
        for task in hidden where task.table == .tasks { untold.formUnion(lostComments[task.id] ?? []) }
    }

    private mutating func audit(_ namespace: String, _ key: SimulatedKey, project: String = "") {
        audits.append(
            Audit(number: tick(), namespace: namespace, key: key, id: ids.id(of: key), day: day, project: project))
    }
}

// What should not happen.
extension SimulatedBackend {
    /// Restores an older state of the backend: rows change and vanish without trace, and a reset announces it.
    mutating func reset(_ choice: Int) {
        for key in rows.keys.sorted() where key.table == .tasks && choice % 2 == 0 { rows[key]?.record.value += 1_000 }
        let tasks = ids(.tasks)
        if !tasks.isEmpty {
            let lost = tasks[choice % tasks.count]
            forgotten.insert(SimulatedKey(.tasks, lost))
            dropTask(lost)
        }
        demandReset()
    }

    /// Restores an empty dump: everything is gone, and a reset announces it; a second call brings it back.
    mutating func vanish() {
        defer { noteVisibility() }
        if let rows = vanished {
            restore(rows)
            return
        }
        vanished = rows.filter { !unanswered.contains($0.key) }
        rows = [:]
        demandReset()
    }

    mutating func restore(_ old: [SimulatedKey: Row]) {
        vanished = nil
        for (key, row) in old.sorted(by: { $0.key < $1.key }) where rows[key] == nil {
            var row = row
            row.update = tick()
            for name in row.feeds.keys { row.feeds[name] = row.update }
            rows[key] = row
            restored.insert(key)
            if key.table == .projects, members[key.id] == nil { members[key.id] = tick() }
        }
        // Nobody may be left without a parent.
        for key in rows.keys.sorted() {
            guard let parent = rows[key]?.record.parent, !parent.isEmpty else { continue }
            switch key.table {
            case .tasks: if rows[SimulatedKey(.projects, parent)] == nil { rows[key] = nil }
            case .comments: if rows[SimulatedKey(.tasks, parent)] == nil { rows[key] = nil }
            case .folders: if rows[SimulatedKey(.folders, parent)] == nil { rows[key]?.record.parent = "" }
            default: break
            }
        }
        demandReset()
    }

    private mutating func demandReset() {
        defer { noteVisibility() }
        forgotten.formUnion(audits.map(\.key))
        audits = []
        for name in sessions.keys { sessions[name]?.isResetPending = true }
    }

    mutating func pass(days: Int) {
        day += days
        forgotten.formUnion(audits.filter { $0.day <= day - 31 }.map(\.key))
        audits.removeAll { $0.day <= day - 31 }
    }

    /// Loses a tombstone that no stream has brought.
    mutating func loseTombstone(_ choice: Int) {
        guard !audits.isEmpty else { return }
        let audit = audits.remove(at: choice % audits.count)
        for key in rows.keys where project(of: key) == audit.key.id { untold.insert(key) }
        untold.insert(audit.key)
        forgotten.insert(audit.key)
        // What should have gone with it stays as well.
        isCascadeLost = true
    }

    /// Begins a transaction, which has its number and is not visible yet.
    mutating func beginLate(_ key: SimulatedKey, _ value: Int) {
        untold.insert(key)
        late.append(Late(key: key, value: value, update: tick()))
    }

    /// Commits the oldest transaction, even if streams have passed it.
    mutating func commitLate() {
        guard !late.isEmpty else { return }
        let late = late.removeFirst()
        guard let row = rows[late.key], row.update < late.update else { return }
        rows[late.key]?.record.value = late.value
        rows[late.key]?.update = late.update
        for name in row.feeds.keys { rows[late.key]?.feeds[name] = late.update }
    }

    /// Makes the line of a row unreadable, while the row can be written.
    mutating func damage(_ key: SimulatedKey, _ choice: Int) {
        guard let row = rows[key] else { return }
        let now = tick()
        rows[key]?.damage = choice % 3 == 0 ? .withoutID : .unreadable
        rows[key]?.update = now
        for name in row.feeds.keys { rows[key]?.feeds[name] = now }
    }

    mutating func repairAll() {
        for key in rows.keys.sorted() where rows[key]?.damage != Damage.none {
            let now = tick()
            rows[key]?.damage = .none
            rows[key]?.update = now
            for name in rows[key]?.feeds.keys.sorted() ?? [] { rows[key]?.feeds[name] = now }
        }
    }
}
