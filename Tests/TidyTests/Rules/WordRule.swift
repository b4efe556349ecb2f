// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Words that gave way to those of the glossary in `docs/ARCHITECTURE.md` come back nowhere.
///
/// Keys, codes, columns and members of JSON that users know stay as they are: in code they are string literals without
/// a space, in documents they stand between backticks.
enum WordRule {
    /// Each retired word with the one to use.
    static let retired = [
        "sweep": "full comparison", "sweeps": "full comparisons", "swept": "compared in full",
        "sweeping": "comparing", "resweep": "full comparison", "settled": "diffed, resolved or decided",
        "settling": "diffing", "settlement": "diff", "tomb": "tombstone", "tombs": "tombstones",
        "fold": "compaction", "folds": "compactions", "folded": "compacted", "foldable": "compactable",
        "compactor": "deduplicator", "flights": "in-flight operations", "wave": "batch of calls",
        "waves": "batches of calls", "debt": "pending redelivery", "debts": "pending redeliveries",
        "doublet": "duplicate", "aside": "quarantine", "doublets": "duplicates", "desk": "admin",
        "desks": "admins", "stem": "base name", "stems": "base names", "person": "user", "persons": "users",
        "people": "users", "dependents": "descendants",
    ]

    /// Words that are retired in the names of sources alone: prose needs them.
    static let retiredNames = [
        "place": "index, offset, position or permit", "places": "indices, offsets, positions or permits",
        "told": "reported", "somebody": "the user or the principal",
    ]

    /// Words that are retired outside of names and of the messages that users read.
    static let retiredProse = ["somebody": "another user, or who it is"]

    /// Phrases that are retired in prose.
    static let retiredPhrases = ["nobody knows": "unknown", "closing of a journal": "push recovery"]

    /// Names after a key of the configuration.
    private static let allowed: Set = ["maxSweep", "resweepEvery", "resweepParallel", "resweepRows"]
    /// Expressions of grammar.
    private static let allowedPhrases = ["third person"]

    /// Looks at the names in code, each once, at the names of tests, and at every word of comments, documents and
    /// texts.
    static func violations(in files: [SourceFile]) -> [Violation] {
        var seen: Set<String> = []
        return files.flatMap { file in
            // A name may be right in a test and wrong in a source.
            let names = file.swift.tokens.filter {
                !allowed.contains($0.text) && seen.insert((file.isSource ? "S" : "T") + $0.text).inserted
            }
            let words = file.isSource ? retired.merging(retiredNames) { $1 } : retired
            return names.flatMap { token in found(in: parts(of: token.text), words, file, token.line) }
                + prose(of: file).flatMap { number, text in
                    found(in: text, retired.merging(retiredProse) { $1 }, file, number)
                } + texts(of: file).flatMap { number, text in found(in: text, retired, file, number) }
        }
    }

    private static func found(
        in words: [String], _ retired: [String: String], _ file: SourceFile, _ line: Int
    ) -> [Violation] {
        words.compactMap { word in
            retired[word].map { Violation(file: file, line: line, message: "'\(word)' is retired: say \($0)") }
        }
    }

    /// Looks at a line of prose, without what stands between backticks.
    private static func found(
        in text: Substring, _ retired: [String: String], _ file: SourceFile, _ line: Int
    ) -> [Violation] {
        let plain = pieces(of: text, by: "`", odd: false).joined(separator: "`").lowercased()
        let phrases = retiredPhrases.filter { plain.contains($0.key) }
            .map { Violation(file: file, line: line, message: "'\($0.key)' is retired: say \($0.value)") }
        let rest = allowedPhrases.reduce(plain) { $0.replacing($1, with: "") }
        return phrases + found(in: words(of: rest), retired, file, line)
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

    /// The lines of comments and the names of tests, or the lines of a document outside of its fences; a changelog
    /// tells of what was.
    private static func prose(of file: SourceFile) -> [(Int, Substring)] {
        if file.isSwift {
            return file.numberedLines.flatMap { number, text -> [(Int, Substring)] in
                let isComment = text.drop { $0 == " " }.hasPrefix("//")
                let names = pieces(of: text, by: "`", odd: true).filter { $0.contains(" ") }
                return isComment ? [(number, text)] : names.map { (number, $0) }
            }
        }
        guard file.path.hasSuffix(".md"), file.path != "CHANGELOG.md" else { return [] }
        var isCode = false
        return file.numberedLines.filter { _, text in
            if text.hasPrefix("```") { isCode.toggle() }
            // What is indented by four is shown as it comes from a program.
            return !isCode && !text.hasPrefix("    ")
        }
    }

    /// The string literals of a source that are sentences: with a space, and no SQL.
    private static func texts(of file: SourceFile) -> [(Int, Substring)] {
        guard file.isSource, file.isSwift, !["SQLiteState", "DemoBackend"].contains(file.target) else { return [] }
        var isInside = false
        return file.numberedLines.flatMap { number, text -> [(Int, Substring)] in
            if text.contains("\"\"\"") {
                isInside.toggle()
                return []
            }
            if isInside { return [(number, text)] }
            guard !text.drop(while: { $0 == " " }).hasPrefix("//") else { return [] }
            return pieces(of: text, by: "\"", odd: true).filter { $0.contains(" ") }.map { (number, $0) }
        }
    }

    /// Every second piece of a text: those outside of the separators, or those between them.
    private static func pieces(of text: Substring, by separator: Character, odd: Bool) -> [Substring] {
        text.split(separator: separator, omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) != odd }.map(\.element)
    }

    private static func words(of text: String) -> [String] {
        text.split { !$0.isLetter && $0 != "_" }.map(String.init)
    }
}
