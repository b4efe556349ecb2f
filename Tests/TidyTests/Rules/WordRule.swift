// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Words that gave way to those of the glossary in `docs/ARCHITECTURE.md` come back nowhere.
///
/// Keys, codes, columns and members of JSON that users know stay as they are: in code they are string literals, in
/// documents they stand between backticks.
enum WordRule {
    /// Each retired word with the one to use.
    static let retired = [
        "sweep": "full comparison", "sweeps": "full comparisons", "swept": "compared in full",
        "sweeping": "comparing", "resweep": "full comparison", "settle": "diff, resolve or decide",
        "settles": "diffs, resolves or decides", "settled": "diffed, resolved or decided",
        "settling": "diffing", "settlement": "diff", "tomb": "tombstone", "tombs": "tombstones",
        "fold": "compaction", "folds": "compactions", "folded": "compacted", "compactor": "deduplicator",
        "flights": "in-flight operations", "wave": "batch of calls", "waves": "batches of calls",
        "debt": "pending redelivery", "debts": "pending redeliveries", "doublet": "duplicate",
        "aside": "quarantine", "doublets": "duplicates", "desk": "admin", "stem": "base name", "stems": "base names",
    ]

    /// Names after a key of the configuration.
    private static let allowed: Set = ["maxSweep", "resweepEvery", "resweepParallel", "resweepRows"]

    /// Looks at the names in code, each once, and at every word of comments and documents.
    static func violations(in files: [SourceFile]) -> [Violation] {
        var seen: Set<String> = []
        return files.flatMap { file in
            let names = file.swift.tokens.filter { seen.insert($0.text).inserted && !allowed.contains($0.text) }
            return names.flatMap { token in found(in: parts(of: token.text), file, token.line) }
                + prose(of: file).flatMap { number, text in found(in: words(of: text), file, number) }
        }
    }

    private static func found(in words: [String], _ file: SourceFile, _ line: Int) -> [Violation] {
        words.compactMap { word in
            retired[word].map { Violation(file: file, line: line, message: "'\(word)' is retired: say \($0)") }
        }
    }

    /// The parts of a name: `beginSweep` is begin and sweep.
    private static func parts(of name: String) -> [String] {
        var parts: [String] = []
        for character in name {
            if character.isUppercase || parts.isEmpty { parts.append("") }
            parts[parts.count - 1] += character.lowercased()
        }
        return parts
    }

    /// The lines of comments, or of a document outside of its fences; a changelog tells of what was.
    private static func prose(of file: SourceFile) -> [(Int, Substring)] {
        if file.isSwift {
            return file.numberedLines.filter { $0.text.drop { $0 == " " }.hasPrefix("//") }
        }
        guard file.path.hasSuffix(".md"), file.path != "CHANGELOG.md" else { return [] }
        var isCode = false
        return file.numberedLines.filter { _, text in
            if text.hasPrefix("```") { isCode.toggle() }
            return !isCode
        }
    }

    /// The words of a line, in small letters, without what stands between backticks.
    private static func words(of text: Substring) -> [String] {
        let plain = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        return plain.flatMap { part in part.split { !$0.isLetter && $0 != "_" }.map { $0.lowercased() } }
    }
}
