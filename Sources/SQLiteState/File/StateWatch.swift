// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateProbes
import StateStore

/// Watches over the files of an open state: whether they are still at their paths, and which faults they have.
final class StateWatch: Sendable {
    let file: StateFile
    private let watched: [(path: String, identity: StateFile.Identity?)]
    private let faults: StateFaultLog

    /// Creates a watch over a file that was just opened.
    ///
    /// SQLite's own files are watched only where they are certain to stay: not for a command beside a gateway, since
    /// whoever closes the file last may remove them.
    init(_ file: StateFile, withLog: Bool, report: (@Sendable (StateEvent) -> Void)?) {
        self.file = file
        faults = StateFaultLog(at: file.path, report: report)
        let paths = withLog ? [file.path, file.logPath, file.indexPath] : [file.path]
        watched = paths.map { ($0, StateFile.identity(of: $0)) }
    }

    /// Fails if a path no longer names the file that was opened: data written to that file would be lost.
    func checkPath() throws(StateError) {
        for (path, identity) in watched {
            guard let identity, StateFile.isStill(identity, at: path) else { throw .replaced(path: path) }
        }
    }

    /// True if all files are still at their paths.
    var isWhole: Bool { (try? checkPath()) != nil }

    /// True if nothing is where a file is gone.
    ///
    /// Then nobody else has written since, and what the log has may still be moved into the file. A command that has
    /// failed leaves an empty log.
    var isAlone: Bool {
        watched.allSatisfy { path, identity in
            if let identity, StateFile.isStill(identity, at: path) { return true }
            return StateFile.identity(of: path) == nil || path == file.logPath && file.isLogEmpty
        }
    }

    /// Turns a failure into a ``StateError`` if there is one for it, and reports it if it is a new fault.
    func error(_ error: any Error) -> any Error {
        var error = StateError.wrapping(error, path: file.path)
        // A connection that is opened only for a read fails before it can check that the files are still there.
        switch error as? StateError {
        case .open?, .io?: do throws(StateError) { try checkPath() } catch let replaced { error = replaced }
        default: break
        }
        if let error = error as? StateError { faults.failed(error) }
        return error
    }

    /// Records that a transaction was committed, so that faults may be over.
    func committed() { faults.committed() }
}
