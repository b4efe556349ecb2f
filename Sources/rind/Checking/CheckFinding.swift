// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One line of what `rind check --connect` found.
struct CheckFinding: Hashable {
    /// The status of a part.
    enum Verdict: String {
        case ok
        /// The part may be right, but cannot be tried without changing data: no failure.
        case note
        /// The part may be right, but nothing has confirmed it.
        case unsure
        case wrong

        /// True if the check succeeds with this status.
        var isPassed: Bool { self == .ok || self == .note }
    }

    var verdict: Verdict
    /// The part that was tried: `backend`, `point` (of the checklist), `state` or `spool`.
    var name: String
    /// Says what was found, and where.
    var text: String
    /// The advice, if the status is not ok.
    var hint: String?

    init(_ verdict: Verdict, _ text: String, of name: String = "backend", hint: String? = nil) {
        self.verdict = verdict
        self.name = name
        self.text = text
        self.hint = hint
    }

    /// Returns the finding as lines of text.
    func lines(_ terminal: Terminal) -> [String] {
        let word = verdict.rawValue.padded(to: 7)
        let shown =
            switch verdict {
            case .ok: terminal.green(word)
            case .note: terminal.dim(word)
            case .unsure: terminal.yellow(word)
            case .wrong: terminal.red(word)
            }
        let indent = String(repeating: " ", count: 16)
        return ["\(shown)\(name.padded(to: 9))\(text)"] + (hint.map { ["\(indent)= hint: \($0)"] } ?? [])
    }
}
