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
    /// Its write-ahead log is watched only where it is certain to stay: not for a command beside a gateway, since
    /// whoever closes the file last removes the log.
    init(_ file: StateFile, withLog: Bool, report: (@Sendable (StateEvent) -> Void)?) {
        self.file = file
        faults = StateFaultLog(at: file.path, report: report)
        let paths = withLog ? [file.path, file.logPath] : [file.path]
        watched = paths.map { ($0, StateFile.identity(of: $0)) }
    }

    /// Fails if a path no longer names the file that was opened: data written to that file would be lost.
    func checkPath() throws(StateError) {
        for (path, identity) in watched {
            guard let identity, StateFile.isStill(identity, at: path) else { throw .replaced(path: path) }
        }
    }

    /// Turns a failure into a ``StateError`` if there is one for it, and reports it if it is a new fault.
    func error(_ error: any Error) -> any Error {
        var error = StateError.wrapping(error, path: file.path)
        // A connection that is opened only for a read fails before it can check that the file is still there.
        if case .open? = error as? StateError {
            do throws(StateError) { try checkPath() } catch let replaced { error = replaced }
        }
        if let error = error as? StateError { faults.failed(error) }
        return error
    }

    /// Records that a transaction was committed, so that faults may be over.
    func committed() { faults.committed() }
}
