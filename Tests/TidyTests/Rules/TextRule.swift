// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What stands in no file at all: notes to self, chapters in comments, and paths of one machine.
enum TextRule {
    // Put together from halves, so that this file does not break its own rule.
    static let notes = ["TO" + "DO", "FIX" + "ME", "MA" + "RK:"]
    static let folders = ["/ho" + "me/", "/Us" + "ers/", "/ro" + "ot/", "/wo" + "rk/"]

    static func violations(in file: SourceFile) -> [Violation] {
        file.numberedLines.flatMap { number, text in
            let marks = notes.filter { text.contains($0) }.map { "'\($0)': finish it, or leave the note out" }
            let paths = folders.filter { text.contains($0) }.map { "'\($0)' is a path of one machine" }
            return (marks + paths).map { Violation(file: file, line: number, message: $0) }
        }
    }
}
