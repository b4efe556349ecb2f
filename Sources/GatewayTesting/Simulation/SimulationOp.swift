// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

/// One thing that happens; numbers are taken modulo what there is, so that every part of a schedule is a schedule too.
package enum SimulationOp: Hashable, Sendable {
    /// What people and other programs do at the backend.
    package enum Write: String, CaseIterable, Sendable {
        case newTask, editTask, touchTask, moveTask, deleteTask, recreateTask
        case newProject, editProject, deleteProject, revoke, grant
        case newFile, editFile, moveFile, deleteFile, newNote, deleteNote
    }

    /// What a person does on a phone.
    package enum Edit: String, CaseIterable, Sendable {
        case create, edit, editProject, delete
    }

    case step(pull: Int, count: Int)
    case pull(device: Int)
    case push(device: Int, isAnswerLost: Bool)
    case abandon(pull: Int)
    case loseRequest(pull: Int)
    case loseAnswer(pull: Int)
    case cut(pull: Int)
    case write(Write, Int, Int)
    case edit(device: Int, Edit, Int, Int)
    case backup(device: Int)
    case restore(device: Int)
    case clone(device: Int)
    case logInAnew(device: Int)
    case updateApp(device: Int)
    case crash
    case saveState
    case restoreState
    case wait(milliseconds: Int64)
    case days(Int)
    case reset(Int)
}

extension Simulation {
    /// Makes one thing happen.
    package func perform(_ op: SimulationOp) async throws {
        switch op {
        case .step(let pull, let count):
            now += 1
            guard !pulls.isEmpty else { return }
            let pull = pulls[pull % pulls.count]
            for _ in 0..<count where !pull.isOver { try await pull.step() }
        case .pull(let device):
            let index = device % devices.count
            if !devices[index].isSyncing { _ = beginPull(index) }
        case .push(let device, let isAnswerLost):
            let index = device % devices.count
            if !devices[index].isSyncing { push(index, isAnswerLost: isAnswerLost) }
        case .abandon(let pull): if !pulls.isEmpty { abandon(pulls[pull % pulls.count]) }
        case .loseRequest(let pull): if !pulls.isEmpty { pulls[pull % pulls.count].fault = .lostRequest }
        case .loseAnswer(let pull): if !pulls.isEmpty { pulls[pull % pulls.count].fault = .lostAnswer }
        case .cut(let pull): if !pulls.isEmpty { pulls[pull % pulls.count].isCut = true }
        case .write(let write, let choice, let value):
            note("backend: \(write) \(choice) \(value)")
            perform(write, choice, value)
        case .edit(let device, let edit, let choice, let value):
            perform(edit, device % devices.count, choice, value)
        default: try await performRare(op)
        }
    }

    private func performRare(_ op: SimulationOp) async throws {
        switch op {
        case .backup(let device): devices[device % devices.count].saveBackup()
        case .restore(let device):
            let index = device % devices.count
            guard !devices[index].isSyncing else { return }
            devices[index].restoreBackup()
            note("\(devices[index].name) is restored")
        case .clone(let device):
            guard devices.count < 4, !devices[device % devices.count].isSyncing else { return }
            devices.append(devices[device % devices.count].cloned(as: "d\(devices.count)"))
            note("\(devices[device % devices.count].name) is cloned")
        case .logInAnew(let device):
            let index = device % devices.count
            guard !devices[index].isSyncing else { return }
            recordCount += 1
            devices[index].session = Session(rawValue: "n\(recordCount)")
            note("\(devices[index].name) logs in anew")
        case .updateApp(let device):
            let index = device % devices.count
            if !devices[index].isSyncing { devices[index].version = 2 }
        case .crash: crash()
        case .saveState: saveState()
        case .restoreState: restoreState()
        case .wait(let milliseconds): now += milliseconds
        case .days(let days):
            note("\(days) days pass")
            now += Int64(days) * 24 * 3_600 * 1_000
            backend.pass(days: days)
        case .reset(let choice):
            guard setup.style == .server else { return }
            note("the backend is reset")
            backend.reset(choice)
        default: break
        }
    }

    private func perform(_ write: SimulationOp.Write, _ choice: Int, _ value: Int) {
        func pick(_ table: SimulatedTable) -> SimulatedKey? {
            let ids = backend.ids(table)
            return ids.isEmpty ? nil : SimulatedKey(table, ids[choice % ids.count])
        }
        func fresh(_ table: SimulatedTable) -> SimulatedKey {
            recordCount += 1
            return SimulatedKey(table, "b\(recordCount)")
        }
        let projects = backend.members.keys.sorted()
        switch write {
        case .newProject: backend.put(fresh(.projects), SimulatedRecord(value: value))
        case .editProject: edit(pick(.projects), value)
        case .deleteProject: if projects.count > 1, let key = pick(.projects) { backend.remove(key) }
        case .revoke: if !projects.isEmpty { backend.revoke(projects[choice % projects.count]) }
        case .grant: if let key = pick(.projects) { backend.grant(key.id) }
        case .newTask:
            guard !projects.isEmpty else { return }
            backend.put(fresh(.tasks), SimulatedRecord(value: value, parent: projects[choice % projects.count]))
        case .editTask: edit(pick(.tasks), value)
        case .touchTask: edit(pick(.tasks), nil)
        case .moveTask:
            guard let key = pick(.tasks), !projects.isEmpty, var record = backend.rows[key]?.record else { return }
            record.parent = projects[value % projects.count]
            backend.put(key, record)
        case .deleteTask: if let key = pick(.tasks) { backend.remove(key) }
        case .recreateTask: recreate(choice, value)
        case .newFile:
            if setup.hasFiles { backend.put(fresh(.files), SimulatedRecord(value: value), source: value % 2) }
        case .editFile: edit(pick(.files), value)
        case .moveFile: if let key = pick(.files) { backend.moveFile(key) }
        case .deleteFile: if let key = pick(.files) { backend.remove(key) }
        case .newNote: backend.put(fresh(.notes), SimulatedRecord(value: value))
        case .deleteNote: if let key = pick(.notes) { backend.remove(key) }
        }
    }

    private func edit(_ key: SimulatedKey?, _ value: Int?) {
        guard let key, var record = backend.rows[key]?.record else { return }
        if key.table == .projects, backend.members[key.id] == nil { return }
        if let value { record.value = value }
        backend.put(key, record)
    }

    /// A task comes back under the id that it had.
    private func recreate(_ choice: Int, _ value: Int) {
        let gone = backend.audits.filter { audit in
            audit.key.table == .tasks && backend.rows[audit.key] == nil && backend.members[audit.project] != nil
        }
        guard !gone.isEmpty else { return }
        let audit = gone[choice % gone.count]
        backend.put(audit.key, SimulatedRecord(value: value, parent: audit.project))
    }

    private func perform(_ edit: SimulationOp.Edit, _ index: Int, _ choice: Int, _ value: Int) {
        let shown = devices[index].shown.keys.sorted()
        let tasks = shown.filter { $0.table == .tasks }
        let projects = shown.filter { $0.table == .projects }
        note("\(devices[index].name): \(edit) \(choice) \(value)")
        switch edit {
        case .create:
            guard !projects.isEmpty else { return }
            recordCount += 1
            let record = SimulatedRecord(value: value, parent: projects[choice % projects.count].id)
            devices[index].create(SimulatedKey(.tasks, "\(devices[index].name)_\(recordCount)"), record)
        case .edit: if !tasks.isEmpty { devices[index].edit(tasks[choice % tasks.count], value: value) }
        case .editProject: if !projects.isEmpty { devices[index].edit(projects[choice % projects.count], value: value) }
        case .delete: if !tasks.isEmpty { devices[index].delete(tasks[choice % tasks.count]) }
        }
    }
}
