// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The text of one source in lines of Unicode scalars, the unit of columns.
package struct SourceFile: Sendable {
    /// The most bytes that a configuration may have.
    package static let maximumBytes = 1 << 20

    /// The name that diagnostics show.
    package let name: String
    /// The lines without their ends.
    private(set) var lines: [[Unicode.Scalar]] = []

    /// Creates a source of one line, such as the value of an environment variable.
    package init(name: String, line: String) {
        self.name = name
        lines = [Array(line.unicodeScalars)]
    }

    /// Creates a source without text, for reports about the text as a whole.
    init(name: String) { self.name = name }

    /// Returns a line, counted from 1; nil if there is no such line.
    package func line(_ number: Int) -> String? {
        guard lines.indices.contains(number - 1) else { return nil }
        return String(String.UnicodeScalarView(lines[number - 1]))
    }

    /// A fault in one line that keeps it from being text.
    struct Defect {
        var line: Int
        var column: Int
        var message: String
        var hint: String?
    }

    /// Splits bytes into lines at LF or CR LF and decodes them; skips a byte order mark at the beginning.
    ///
    /// Bytes that are not UTF-8, and control characters other than the tab, are replaced, so that the rest can be read;
    /// they are reported once for each line.
    static func decode(_ bytes: [UInt8], name: String) -> (SourceFile, [Defect]) {
        var source = SourceFile(name: name)
        guard bytes.count <= maximumBytes else {
            let message = "the file has \(bytes.count) bytes, expected at most \(maximumBytes)"
            return (source, [Defect(line: 1, column: 1, message: message)])
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            let defect = Defect(
                line: 1, column: 1, message: "the file is UTF-16, expected UTF-8", hint: "save it as UTF-8")
            return (source, [defect])
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        var defects: [Defect] = []
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let end = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let (scalars, defect) = decodeLine(end)
            source.lines.append(scalars)
            if let defect, defects.count < Problems.limit {
                defects.append(
                    Defect(line: source.lines.count, column: defect.column, message: defect.message, hint: nil))
            }
        }
        return (source, defects)
    }

    private static func decodeLine(
        _ line: ArraySlice<UInt8>
    ) -> (scalars: [Unicode.Scalar], defect: (column: Int, message: String)?) {
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(line.count)
        var defect: (column: Int, message: String)?
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = line.makeIterator()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .emptyInput: return (scalars, defect)
            case .error:
                if defect == nil { defect = (scalars.count + 1, "this is not UTF-8") }
                scalars.append("\u{FFFD}")
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                let isControl = (scalar.value < 32 && scalar != "\t") || (127..<160).contains(scalar.value)
                if isControl, defect == nil {
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    let code = String(repeating: "0", count: 4 - digits.count) + digits
                    defect = (scalars.count + 1, "control character U+\(code) in the file")
                }
                scalars.append(isControl ? "\u{FFFD}" : scalar)
            }
        }
    }
}
