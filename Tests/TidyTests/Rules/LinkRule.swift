// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Links between documents lead to files that exist.
enum LinkRule {
    static func violations(in file: SourceFile, exists: (String) -> Bool) -> [Violation] {
        let folder = file.components.dropLast()
        var isCode = false
        return file.numberedLines.flatMap { number, text -> [Violation] in
            if text.hasPrefix("```") { isCode.toggle() }
            guard !isCode else { return [] }
            return targets(in: String(text)).filter { !exists(resolve($0, from: Array(folder))) }.map {
                Violation(file: file, line: number, message: "the link to '\($0)' leads nowhere")
            }
        }
    }

    /// The targets of the links in a line that point into the tree, without their anchors.
    private static func targets(in line: String) -> [String] {
        line.components(separatedBy: "](").dropFirst().compactMap { rest in
            guard let end = rest.firstIndex(of: ")") else { return nil }
            let target = rest[..<end].prefix { $0 != "#" }
            return target.isEmpty || target.contains("://") || target.hasPrefix("mailto:") ? nil : String(target)
        }
    }

    /// The path from the top of the tree.
    private static func resolve(_ target: String, from folder: [String]) -> String {
        var components = folder
        for step in target.split(separator: "/") {
            switch step {
            case ".": break
            case "..": components = Array(components.dropLast())
            default: components.append(String(step))
            }
        }
        return components.joined(separator: "/")
    }
}
