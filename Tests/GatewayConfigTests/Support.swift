// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import INI

/// Files and loading for all tests of this target.
enum Support {
    /// The clone's root.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let fixtures = root.appending(path: "Tests/GatewayConfigTests/Fixtures")
    static let key = "0123456789abcdef0123456789abcdef"

    /// The least that loads, with further text behind it.
    static func minimal(_ more: String = "", identity: String = "principal = bearer\nkey = \(key)") -> String {
        "[identity]\n\(identity)\n[backend]\nurl = http://backend.test\n\(more)"
    }

    /// A whole table that is right, with replacements for single lines.
    static func withTable(_ replacements: [String: String] = [:], columns: String = "name = string", more: String = "")
        -> String
    {
        var lines = [
            "request": "AlbumsV1 then AlbumsV2 since 12", "upsert": "AlbumV1, AlbumV2",
            "delete": "AlbumDeleteV1 by albumId", "id": "id",
        ]
        for (key, value) in replacements { lines[key] = value }
        let table = lines.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
        return minimal(
            "[schema]\nversion = 12\n[table albums]\n" + table.joined(separator: "\n")
                + "\n[columns albums]\n\(columns)\n\(more)"
        )
    }

    static func load(
        _ text: String, file: String = "config/rind.ini", environment: [String: String] = [:],
        files: [String: String] = [:]
    ) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        Configuration.load(text: Array(text.utf8), file: file, environment: environment) {
            path throws(Substitution.FileError) in
            guard let text = files[path] else { throw Substitution.FileError("no such file") }
            return Array(text.utf8)
        }
    }

    /// Everything that is said about a text.
    static func messages(_ text: String, environment: [String: String] = [:], files: [String: String] = [:]) -> [String]
    {
        load(text, environment: environment, files: files).diagnostics.map {
            "\($0.position.line):\($0.position.column) \($0.message)"
        }
    }

    static func rendered(_ diagnostics: [Diagnostic]) -> String {
        diagnostics.map { $0.rendered + "\n" }.joined()
    }

    static var isRegenerating: Bool { ProcessInfo.processInfo.environment["RIND_REGENERATE"] == "1" }
}
