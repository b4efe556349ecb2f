// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The symptoms of `docs/TROUBLESHOOTING.md`, each with the commands that it shows and their output.
struct TroubleshootingPage {
    /// A command with its output, shortened by `…`.
    struct Example {
        var command: String
        var output: [String]
    }

    /// A chapter of the page.
    struct Symptom {
        /// The heading, without backticks: the name of the symptom's test.
        var name: String
        var examples: [Example]
    }

    let symptoms: [Symptom]
    /// The names in the first column of the table at the head.
    let listed: [String]

    init() throws {
        self.init(text: try Place.text("docs/TROUBLESHOOTING.md"))
    }

    init(text: String) {
        var (symptoms, listed): ([Symptom], [String]) = ([], [])
        var block: [String]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if let example = block.flatMap(Self.example), !symptoms.isEmpty {
                    symptoms[symptoms.count - 1].examples.append(example)
                }
                block = block == nil ? [] : nil
            } else if block != nil {
                block?.append(line)
            } else if line.hasPrefix("## ") {
                symptoms.append(Symptom(name: String(line.dropFirst(3)).replacing("`", with: ""), examples: []))
            } else if let match = line.firstMatch(of: /^\| \[(.+)\]\(#/) {
                listed.append(String(match.output.1).replacing("`", with: ""))
            }
        }
        (self.symptoms, self.listed) = (symptoms, listed)
    }

    /// Returns the symptom with a test's name, such as `#function` has it.
    func symptom(ofTest name: String) -> Symptom? {
        let name = name.replacing("`", with: "").replacing("()", with: "")
        return symptoms.first { $0.name == name }
    }

    /// Returns what an output says when times, ids and lengths are left out.
    static func fixedText(of output: some StringProtocol) -> String {
        String(output).replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
            .replacing(/\b([0-9a-f]{16}|[0-9a-f]{12})\b/, with: "ID")
            .replacing(/(duration_ms|bytes_out|backend_bytes)=\d+/) { "\($0.output.1)=N" }
            .replacing(/\d{4,}/, with: "N")
            .replacing(/\s+/, with: " ")
    }

    /// A block is an example if it begins with a prompt; a command goes on where its line ends with a backslash.
    private static func example(_ lines: [String]) -> Example? {
        guard lines.first?.hasPrefix("$ ") == true else { return nil }
        let end = lines.firstIndex { !$0.hasSuffix("\\") } ?? lines.count - 1
        return Example(
            command: lines[...end].joined(separator: "\n").dropFirst(2).description, output: Array(lines[(end + 1)...]))
    }
}
