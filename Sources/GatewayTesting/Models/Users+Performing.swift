// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension Users {
    /// Performs one operation at the backend or on a device; the world performs those of gateways.
    func perform(_ op: SimulationOp) {
        switch op {
        case .write(let write, let choice, let value):
            note("backend: \(write) \(choice) \(value)")
            perform(write, choice: choice, value: value)
        case .mishap(let mishap, let choice, let value):
            note("backend: \(mishap) \(choice) \(value)")
            perform(mishap, choice: choice, value: value)
        case .edit(let device, let edit, let choice, let value):
            perform(edit, index: device % devices.count, choice: choice, value: value)
        case .backup(let device): devices[device % devices.count].saveBackup(now: now)
        case .restore(let device, let withApp): restore(device % devices.count, withApp: withApp)
        case .clone(let device): clone(device % devices.count)
        case .logInAnew(let device):
            let index = device % devices.count
            guard !devices[index].isSyncing else { return }
            recordCount += 1
            devices[index].session = Session(rawValue: "n\(recordCount)")
            note("\(devices[index].name) logs in anew")
        case .updateApp(let device):
            let index = device % devices.count
            guard !devices[index].isSyncing else { return }
            devices[index].update()
            note("\(devices[index].name) gets the app's new version")
        case .step, .stepPush, .pull, .sync, .push, .abandon, .loseRequest, .loseAnswer, .cut, .crash, .pause, .goOn,
            .saveState,
            .restoreState, .wait, .days, .fill, .accept, .resync, .forget, .distrust, .retry,
            .reconfigure:
            break
        }
    }

    private func clone(_ index: Int) {
        // Before its first sync an app has nothing that is worth a copy.
        guard devices.count < 4, !devices[index].isSyncing, devices[index].cursor != nil else { return }
        devices.append(devices[index].cloned(as: "d\(devices.count)"))
        note("\(devices[index].name) is cloned")
    }

    private func restore(_ index: Int, withApp: Bool) {
        guard !devices[index].isSyncing, let backup = devices[index].backup else { return }
        devices[index].restoreBackup(withApp: withApp)
        note("\(devices[index].name) of version \(devices[index].version) is restored")
        remade.formUnion(pushed.filter { devices[index].records[$0]?.status == .created })
        for key in pushed { devices[index].mayGetAgain[key, default: 0] += 1 }
        // Tombstones of that time may be gone already.
        if now.milliseconds(since: backup.madeAt) >= WorldConfiguration.maxOffline {
            adrift.formUnion(devices[index].records.keys)
        }
    }

    private func perform(_ mishap: SimulationOp.Mishap, choice: Int, value: Int) {
        switch mishap {
        case .reset: if setup.checkpoints == .server { backend.reset(choice) }
        // A creation that is looked for while everything is gone is made twice where the backend makes ids.
        case .vanish: if setup.checkpoints == .server, setup.hasLedger, !setup.makesIDs { backend.vanish() }
        case .beginLate:
            let keys = backend.rows.keys.sorted().filter { $0.table != .projects }
            if !keys.isEmpty { backend.beginLate(keys[choice % keys.count], value) }
        case .arriveLate: arriveLate()
        case .loseTombstone: backend.loseTombstone(choice)
        case .damage:
            let keys = backend.rows.keys.sorted()
            if !keys.isEmpty { backend.damage(keys[choice % keys.count], value) }
        case .repair: backend.repairAll()
        case .retire:
            backend.retire(choice)
            // Without a ledger an old deletion of one feed takes away what has come by the other.
            if !setup.hasLedger { backend.retired.remove("PartnerFilesV1") }
        }
    }
}

// The actions of users.
extension Users {
    private func pick(_ table: SimulatedTable, _ choice: Int) -> SimulatedKey? {
        let ids = backend.ids(table)
        return ids.isEmpty ? nil : SimulatedKey(table, ids[choice % ids.count])
    }

    func fresh(_ table: SimulatedTable) -> SimulatedKey {
        recordCount += 1
        return SimulatedKey(table, "b\(recordCount)")
    }

    private func perform(_ write: SimulationOp.Write, choice: Int, value: Int) {
        let members = backend.members.keys.sorted()
        // Nothing can be put into a project that is lost for a while.
        let projects = members.filter { backend.rows[SimulatedKey(.projects, $0)] != nil }
        switch write {
        case .newProject: backend.put(fresh(.projects), SimulatedRecord(value: value))
        case .editProject: edit(pick(.projects, choice), value)
        case .deleteProject: if members.count > 1, let key = pick(.projects, choice) { backend.remove(key) }
        case .revoke: if !members.isEmpty { backend.revoke(members[choice % members.count]) }
        case .grant: if let key = pick(.projects, choice) { backend.grant(key.id) }
        case .newTask:
            guard !projects.isEmpty else { return }
            var record = SimulatedRecord(value: value, parent: projects[choice % projects.count])
            if value % 3 == 0 { record.mark = value }
            backend.put(fresh(.tasks), record)
        case .editTask: edit(pick(.tasks, choice), value)
        case .touchTask: edit(pick(.tasks, choice), nil)
        case .markTask: if let key = pick(.tasks, choice) { mark(key, value) }
        case .moveTask:
            guard let key = pick(.tasks, choice), !projects.isEmpty, var record = backend.rows[key]?.record
            else { return }
            record.parent = projects[value % projects.count]
            backend.put(key, record)
        case .deleteTask: if let key = pick(.tasks, choice) { backend.remove(key) }
        case .recreateTask: recreate(choice, value)
        case .newComment:
            guard let task = pick(.tasks, choice) else { return }
            backend.put(fresh(.comments), SimulatedRecord(value: value, parent: task.id))
        case .editComment: edit(pick(.comments, choice), value)
        case .deleteComment: if let key = pick(.comments, choice) { backend.remove(key) }
        case .newFolder, .moveFolder, .deleteFolder: performOnFolders(write, choice: choice, value: value)
        default: performOnFiles(write, choice: choice, value: value)
        }
    }

    private func performOnFolders(_ write: SimulationOp.Write, choice: Int, value: Int) {
        let parent = value % 3 == 0 ? "" : pick(.folders, value)?.id ?? ""
        switch write {
        case .newFolder: backend.put(fresh(.folders), SimulatedRecord(value: value, parent: parent))
        case .moveFolder:
            guard let key = pick(.folders, choice), var record = backend.rows[key]?.record,
                parent.isEmpty || !backend.isFolder(parent, within: key.id)
            else { return }
            record.parent = parent
            backend.put(key, record)
        default: if let key = pick(.folders, choice) { backend.remove(key) }
        }
    }

    private func performOnFiles(_ write: SimulationOp.Write, choice: Int, value: Int) {
        let file = pick(.files, choice)
        switch write {
        case .newFile:
            guard setup.hasFiles else { return }
            backend.put(fresh(.files), SimulatedRecord(value: value, parent: "o\(choice % 2)"), feed: value % 2)
        case .editFile: edit(file, value)
        case .moveFile: if let file { backend.moveFile(file) }
        // Without a ledger it is unknown by which feeds a device has a file.
        case .shareFile: if let file, setup.hasLedger { backend.shareFile(file) }
        case .purgeFiles: if setup.hasFiles { backend.purge(owner: "o\(choice % 2)") }
        case .deleteFile: if let file { backend.remove(file) }
        case .newNote: backend.put(fresh(.notes), SimulatedRecord(value: value))
        case .editNote: edit(pick(.notes, choice), value)
        case .deleteNote: if let key = pick(.notes, choice) { backend.remove(key) }
        default: break
        }
    }

    private func edit(_ key: SimulatedKey?, _ value: Int?) {
        guard let key, var record = backend.rows[key]?.record else { return }
        if key.table == .projects, backend.members[key.id] == nil { return }
        if let value { record.value = value }
        backend.put(key, record)
    }

    private func mark(_ key: SimulatedKey, _ value: Int) {
        guard var record = backend.rows[key]?.record else { return }
        // Sometimes back to the default.
        record.mark = value % 4 == 0 ? 0 : value
        backend.put(key, record)
    }

    /// Creates a deleted task again, under its earlier id.
    private func recreate(_ choice: Int, _ value: Int) {
        let gone = backend.audits.filter { audit in
            audit.key.table == .tasks && backend.rows[audit.key] == nil && backend.members[audit.project] != nil
        }
        guard !gone.isEmpty else { return }
        let audit = gone[choice % gone.count]
        backend.put(audit.key, SimulatedRecord(value: value, parent: audit.project))
    }

    private func perform(_ edit: SimulationOp.Edit, index: Int, choice: Int, value: Int) {
        note("\(devices[index].name): \(edit) \(choice) \(value)")
        let shown = devices[index].shown.keys.sorted()
        func pick(_ table: SimulatedTable) -> SimulatedKey? {
            let keys = shown.filter { $0.table == table }
            return keys.isEmpty ? nil : keys[choice % keys.count]
        }
        func create(_ table: SimulatedTable, in parent: String) {
            recordCount += 1
            let key = SimulatedKey(table, "\(devices[index].name)_\(recordCount)")
            devices[index].create(key, SimulatedRecord(value: value, parent: parent))
        }
        switch edit {
        case .create: if let project = pick(.projects) { create(.tasks, in: project.id) }
        case .comment: if let task = pick(.tasks) { create(.comments, in: task.id) }
        case .folder: create(.folders, in: pick(.folders)?.id ?? "")
        case .edit: if let task = pick(.tasks) { devices[index].edit(task, value: value) }
        case .mark: if let task = pick(.tasks) { devices[index].mark(task, value) }
        case .note: if devices[index].version >= 2 { create(.notes, in: "") }
        case .editNote: if let note = pick(.notes) { devices[index].edit(note, value: value) }
        case .editProject: if let project = pick(.projects) { devices[index].edit(project, value: value) }
        case .editFile: if let file = pick(.files) { devices[index].edit(file, value: value) }
        case .delete:
            let keys = shown.filter { $0.table != .projects }
            if !keys.isEmpty { devices[index].delete(keys[choice % keys.count]) }
        }
    }
}
