// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One operation of a schedule; numbers are taken modulo the number of choices, so that every part of a schedule is a
/// schedule too.
package enum SimulationOp: Hashable, Sendable {
    /// A change by users and other programs at the backend.
    package enum Write: String, CaseIterable, Sendable {
        case newTask, editTask, touchTask, moveTask, deleteTask, recreateTask
        case newProject, editProject, deleteProject, revoke, grant
        case newComment, editComment, deleteComment, newFolder, moveFolder, deleteFolder
        case newFile, editFile, moveFile, shareFile, purgeFiles, deleteFile, newNote, editNote, deleteNote, markTask
    }

    /// An edit by the user of a phone.
    package enum Edit: String, CaseIterable, Sendable {
        case create, edit, editProject, delete, comment, editFile, folder, mark, note, editNote
    }

    /// A mishap at the backend.
    package enum Mishap: String, CaseIterable, Sendable {
        case reset, vanish, beginLate, arriveLate, loseTombstone, damage, repair, retire
    }

    case step(pull: Int, count: Int)
    case stepPush(Int, count: Int)
    case pull(device: Int)
    case sync(device: Int)
    case push(device: Int, WorldPushOutcome, isStepped: Bool)
    case abandon(pull: Int)
    case loseRequest(pull: Int)
    case loseAnswer(pull: Int)
    case cut(pull: Int)
    case write(Write, Int, Int)
    case mishap(Mishap, Int, Int)
    case edit(device: Int, Edit, Int, Int)
    case backup(device: Int)
    case restore(device: Int, withApp: Bool = false)
    case clone(device: Int)
    case logInAnew(device: Int)
    case updateApp(device: Int)
    case crash
    /// A gateway stands still until the next of these or until it goes on, while requests go to others.
    case pause(Int)
    case goOn
    case saveState
    case restoreState
    case wait(milliseconds: Int64)
    case days(Int)
    case fill(Int)
    case accept(Int)
    case resync(Int)
    /// An operator forgets a device.
    case forget(Int)
    /// An operator lets a user's devices be compared with everything, as after a restore of the backend.
    case distrust(Int)
    case retry
    case reconfigure
}
