// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The results of `rind conform`, for readers and for build servers.
struct ConformReport {
    let book: ConformBook
    let url: String
    /// The records that could not be deleted again, as table and id.
    var left: [String] = []
    var duration = Duration.zero

    /// Returns the table of rules, with the evidence below each that fails.
    func lines(_ terminal: Terminal) -> [String] {
        let width = ConformRule.allCases.map(\.rawValue.count).max() ?? 0
        let indent = String(repeating: " ", count: 9)
        let rows = ConformRule.allCases.flatMap { rule -> [String] in
            let name = rule.rawValue.padded(to: width)
            switch book.outcome(of: rule) {
            case .holds: return ["\(terminal.green("holds  "))  \(name)  \(rule.sentence)"]
            case .skipped(let reason):
                return ["\(terminal.dim("skipped"))  \(name)  \(rule.sentence) (\(reason))"]
            case .fails(let failure):
                return [
                    "\(terminal.red("fails  "))  \(name)  \(rule.sentence)", "\(indent)why   \(failure.problem)",
                    "\(indent)sent  \(failure.sent)", "\(indent)came  \(failure.came)",
                ]
            }
        }
        let counts = book.counts
        let notes = left.map { "left behind: \($0), which could not be deleted" }
        return rows + notes + ["\(counts.holding) hold, \(counts.failing) fail, \(counts.skipped) skipped"]
    }

    /// The results as JUnit XML: a test for each rule.
    var junit: String {
        let counts = book.counts
        let (seconds, attoseconds) = duration.components
        let time = "\(seconds).\(String(attoseconds / 1_000_000_000_000_000 + 1_000).dropFirst())"
        let head =
            "<testsuite name=\"rind conform\" tests=\"\(ConformRule.allCases.count)\" failures=\"\(counts.failing)\" "
            + "errors=\"0\" skipped=\"\(counts.skipped)\" time=\"\(time)\">"
        let cases = ConformRule.allCases.map { rule -> String in
            let name = "  <testcase classname=\"\(Self.escaped(url))\" name=\"\(rule.rawValue)\""
            switch book.outcome(of: rule) {
            case .holds: return name + "/>"
            case .skipped(let reason): return name + "><skipped message=\"\(Self.escaped(reason))\"/></testcase>"
            case .fails(let failure):
                let message = Self.escaped("\(rule.sentence) \(failure.problem)")
                let text = Self.escaped("sent: \(failure.sent)\ncame: \(failure.came)")
                return name + "><failure message=\"\(message)\">\(text)</failure></testcase>"
            }
        }
        return (["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", head] + cases + ["</testsuite>", ""])
            .joined(separator: "\n")
    }

    /// Returns the text without characters that XML gives a meaning or does not allow.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "\n"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar.value < 0x20 ? " " : scalar)
            }
        }
    }
}
