// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The tree's files that the tests use.
enum Place {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let quickstart = root.appending(path: "examples/quickstart/rind.ini").path(percentEncoded: false)
    /// The annotated sample, whose key stands in a file that is not there: set `RIND_IDENTITY_KEY`.
    static let sample = root.appending(path: "config/rind.ini").path(percentEncoded: false)
    static let fixtures = root.appending(path: "Tests/RindCommandTests/Fixtures")

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// A directory of its own for the body, removed afterwards.
    static func withDirectory<R>(_ body: (URL) async throws -> R) async throws -> R {
        let url = FileManager.default.temporaryDirectory.appending(path: "rind-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url)
    }
}
