// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file of the tree, and what it is part of.
struct SourceFile {
    /// The path from the top of the tree, such as `Sources/SyncModel/Cursor.swift`.
    let path: String
    let text: String
    /// The tokens; none for files that are not Swift.
    let swift: SwiftText

    init(path: String, text: String) {
        self.path = path
        self.text = text
        swift = SwiftText(path.hasSuffix(".swift") ? text : "")
    }

    /// `Sources` or `Tests`, the target, and so on to the name.
    var components: [String] { path.split(separator: "/").map(String.init) }

    /// The target; empty for files outside of `Sources` and `Tests`.
    var target: String { components.count > 2 ? components[1] : "" }

    /// The name without its folder.
    var name: String { components.last ?? "" }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var isTest: Bool { path.hasPrefix("Tests/") }
    var isSource: Bool { path.hasPrefix("Sources/") }

    /// All lines of the text, with numbers from 1.
    var numberedLines: [(number: Int, text: Substring)] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0.offset + 1, $0.element) }
    }
}

/// A place where the tree breaks a rule.
struct Violation: CustomStringConvertible {
    let file: SourceFile
    let line: Int
    let message: String

    /// As a compiler writes it, so that editors find the place.
    var description: String { "\(file.path):\(line): \(message)" }
}
