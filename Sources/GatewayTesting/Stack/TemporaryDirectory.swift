// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory that lives as long as a test's body.
package enum TemporaryDirectory {
    /// Makes a directory, passes its path to the body, and deletes it with everything in it.
    package static func with<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let url = FileManager.default.temporaryDirectory.appending(path: "rind-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }
}
