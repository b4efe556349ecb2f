// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One line of what `rind check --connect` found.
struct CheckFinding: Hashable {
    /// How something is.
    enum Verdict: String {
        case ok
        /// It may be right, and can be seen by nobody without changing something: no failure.
        case note
        /// It may be right, and nothing has shown it.
        case unsure
        case wrong

        /// Whether the check goes well with it.
        var isPassed: Bool { self == .ok || self == .note }
    }

    var verdict: Verdict
    /// What was tried: `backend`, `state` or `spool`.
    var name: String
    /// Says what was found, and where.
    var text: String
    /// What to look at, if it is not ok.
    var hint: String?

    init(_ verdict: Verdict, _ text: String, of name: String = "backend", hint: String? = nil) {
        self.verdict = verdict
        self.name = name
        self.text = text
        self.hint = hint
    }

    /// The finding as lines for people.
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
