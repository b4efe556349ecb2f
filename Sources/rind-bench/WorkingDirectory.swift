// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Creates the directory in which a measurement's servers keep their files.
enum WorkingDirectory {
    /// Creates a directory for as long as `body` runs; it is removed at the end, and when the program is interrupted.
    static func with<R>(_ body: (URL) async throws -> R) async throws -> R {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("rind-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let signals = Interrupts.watch(removing: directory)
        defer { withExtendedLifetime(signals) {} }
        return try await body(directory)
    }
}
