// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateProbes
import StateStore

/// Watches over the file of an open state: whether it is still at its path, and which faults it has.
final class StateWatch: Sendable {
    let file: StateFile
    private let identity: StateFile.Identity?
    private let faults: StateFaultLog

    /// Creates a watch over a file that was just opened.
    init(_ file: StateFile, report: (@Sendable (StateEvent) -> Void)?) {
        self.file = file
        faults = StateFaultLog(at: file.path, report: report)
        identity = file.identity
    }

    /// Fails if the path no longer names the file that was opened: data written to that file would be lost.
    func checkPath() throws(StateError) {
        guard let identity, file.isStill(identity) else { throw .replaced(path: file.path) }
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
