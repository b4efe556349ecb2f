// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Ends the servers of a measurement when the user presses Ctrl-C: they are in process groups of their own.
enum Interrupts {
    private static let running = NIOLockedValueBox<Set<Int32>>([])

    /// Records a server that is running.
    static func began(_ process: Int32) { running.withLockedValue { _ = $0.insert(process) } }

    /// Records that a server has ended, before its process id can be reused.
    static func ended(_ process: Int32) { running.withLockedValue { _ = $0.remove(process) } }

    /// Makes SIGINT and SIGTERM end the servers and this program and remove `directory`, as long as the caller keeps
    /// the result.
    static func watch(removing directory: URL) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // At once: the files that they would remove are removed with the directory.
                for process in running.withLockedValue({ $0 }) { kill(process, SIGKILL) }
                try? FileManager.default.removeItem(at: directory)
                exit(128 + number)
            }
            source.resume()
            return source
        }
    }
}
