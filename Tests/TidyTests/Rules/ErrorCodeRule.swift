// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Every stable code that a client, an operator or a log can meet is explained in docs/ERRORS.md.
enum ErrorCodeRule {
    /// What codes begin with.
    private static let families: Set = [
        "admin", "backend", "config", "device", "identity", "internal", "ledger", "limit", "line", "proxy", "pull",
        "push", "record", "request", "schema", "server", "spool", "state", "stream", "tls",
    ]

    /// Codes that the sources put together from parts or write without a dot.
    static let composed: Set = [
        "backend.timeout.connect", "backend.timeout.first_byte", "backend.timeout.idle", "backend.timeout.total",
        "internal",
    ]

    /// Whether codes of a file are Rind's own: neither the demo backend's nor a test's.
    static func holds(for file: SourceFile) -> Bool {
        file.isSource && !["DemoBackend", "GatewayTesting", "rind-bench"].contains(file.target)
    }

    /// The codes that stand in string literals, but not in comments.
    static func codes(inSources files: [SourceFile]) -> Set<String> {
        let literals = files.flatMap { file in
            file.numberedLines.flatMap { line in
                let code = line.text.firstRange(of: "//").map { line.text[..<$0.lowerBound] } ?? line.text
                return code.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            }
        }
        return Set(literals.filter(isCode)).union(composed)
    }

    /// The codes in the first columns of a document's tables.
    static func codes(inDocument file: SourceFile) -> Set<String> {
        let cells = file.numberedLines.filter { $0.text.hasPrefix("| `") }
            .compactMap { $0.text.split(separator: "|").first }
        return Set(
            cells.flatMap { cell in
                cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            })
    }

    private static func isCode(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && families.contains(String(parts[0])) && !parts[1].isEmpty
            && parts[1].allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") }
    }
}
