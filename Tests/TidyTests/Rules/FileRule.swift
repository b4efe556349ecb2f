// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A file says whose it is, is called after what is in it, and is there for a reason.
///
/// The name is that of a type (`Table.swift`, `Table+Names.swift`), of a family of small types (`Quarantine.swift` with
/// `QuarantineEntry` and `QuarantineCounts`, a plural for several of one kind) or of a function. Tests may keep what
/// they share in a file called `Support`.
enum FileRule {
    static let header = ["// Copyright 2026 the Rind authors", "// SPDX-License-Identifier: Apache-2.0"]

    static func violations(in file: SourceFile) -> [Violation] {
        var found: [Violation] = []
        if Array(file.swift.lines.prefix(2)) != header {
            let message = "the file must begin with the two lines '\(header.joined(separator: "' and '"))'"
            found.append(Violation(file: file, line: 1, message: message))
        }
        if file.name == "Placeholder.swift" || file.swift.tokens.isEmpty {
            found.append(Violation(file: file, line: 1, message: "the file holds nothing; remove it"))
        } else if !isNamedAfterContents(file) {
            let message =
                "nothing called '\(baseName(of: file))' is declared or extended here; call the file after its main type"
            found.append(Violation(file: file, line: 1, message: message))
        }
        return found
    }

    private static func isNamedAfterContents(_ file: SourceFile) -> Bool {
        let baseName = baseName(of: file)
        if baseName == "main" || file.isTest && baseName.hasSuffix("Support") { return true }
        let extended = names(after: ["extension"], in: file.swift)
        let declared = names(after: ["struct", "enum", "class", "actor", "protocol", "typealias"], in: file.swift)
        if extended.union(declared).contains(baseName) { return true }
        if declared.count > 1, baseName.hasSuffix("s") || declared.allSatisfy({ $0.hasPrefix(baseName) }) {
            return true
        }
        return names(after: ["func"], in: file.swift).contains(baseName.prefix(1).lowercased() + baseName.dropFirst())
    }

    /// The part of the name that must be found inside: `Table` for `Table+Names.swift`.
    private static func baseName(of file: SourceFile) -> String {
        String(file.name.dropLast(".swift".count).prefix { $0 != "+" })
    }

    /// The names that follow these keywords; of `extension A.B` both.
    private static func names(after keywords: Set<String>, in text: SwiftText) -> Set<String> {
        var names: Set<String> = []
        for index in text.tokens.indices where keywords.contains(text.tokens[index].text) {
            var next = index + 1
            while next < text.tokens.count {
                names.insert(text.tokens[next].text)
                guard next + 2 < text.tokens.count, text.tokens[next + 1].text == "." else { break }
                next += 2
            }
        }
        return names
    }
}
