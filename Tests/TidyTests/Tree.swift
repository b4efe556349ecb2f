// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The files of this very clone, found through the place where this file was compiled.
enum Tree {
    /// The top of the clone.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// All Swift files of `Sources` and `Tests`.
    static let swiftFiles = (files(below: "Sources") + files(below: "Tests")).filter(\.isSwift)

    /// The sources of what operators run, without what tests, demos and benchmarks share.
    static let productionFiles: [SourceFile] = {
        let others: Set = [
            "GatewayTesting", "MemoryState", "PostgresTesting", "DemoBackend", "rind-bench", "rind-count",
        ]
        return swiftFiles.filter { $0.isSource && !others.contains($0.target) }
    }()

    /// What readers read and machines run: Swift, documents, configuration, scripts.
    static let textFiles =
        swiftFiles + documents + files(below: "config") + files(below: ".ci")
        + files(below: "examples").filter { !$0.path.hasSuffix(".md") } + topLevel.filter { !$0.path.hasSuffix(".md") }

    /// All Markdown files.
    static let documents = (topLevel + files(below: "docs") + files(below: "examples")).filter {
        $0.path.hasSuffix(".md")
    }

    private static let topLevel = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "Package.swift"]
        .compactMap(file)

    /// The targets that have a folder.
    static let targets = Set(folders(below: "Sources") + folders(below: "Tests"))

    /// Whether there is a file or folder at this path from the top.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path(percentEncoded: false))
    }

    private static func file(_ path: String) -> SourceFile? {
        guard let data = FileManager.default.contents(atPath: root.appending(path: path).path(percentEncoded: false))
        else { return nil }
        return SourceFile(path: path, text: String(decoding: data, as: UTF8.self))
    }

    /// All text files below a folder, in the order of their paths.
    ///
    /// Fixtures are the words of others.
    private static func files(below folder: String) -> [SourceFile] {
        let start = root.appending(path: folder).path(percentEncoded: false)
        guard let paths = try? FileManager.default.subpathsOfDirectory(atPath: start) else { return [] }
        let wanted: Set = ["swift", "md", "ini", "sh", "conf", "service", "py", ""]
        return paths.sorted().filter { path in
            wanted.contains(URL(filePath: path).pathExtension) && !path.split(separator: "/").contains("Fixtures")
        }.compactMap { path in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: start + "/" + path, isDirectory: &isFolder)
            return exists && !isFolder.boolValue ? file(folder + "/" + path) : nil
        }
    }

    private static func folders(below folder: String) -> [String] {
        let start = root.appending(path: folder).path(percentEncoded: false)
        return ((try? FileManager.default.contentsOfDirectory(atPath: start)) ?? []).filter { !$0.hasPrefix(".") }
    }
}

/// Records all violations as one issue, a line each.
func report(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
    guard !violations.isEmpty else { return }
    let list = violations.map(\.description).joined(separator: "\n")
    Issue.record("\(violations.count) to mend:\n\(list)", sourceLocation: sourceLocation)
}
