// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A call with three or more arguments says what they are.
enum LabelRule {
    static let maximumUnlabelled = 2

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isSource else { return [] }
        return file.swift.tokens.indices.compactMap { index in
            let count = unlabelledParameters(of: index, in: file.swift)
            guard count > maximumUnlabelled else { return nil }
            let message =
                "\(count) parameters have no label, more than \(maximumUnlabelled): what would a reader of a call take "
                + "the third one for?"
            return Violation(file: file, line: file.swift.tokens[index].line, message: message)
        }
    }

    /// How many parameters without a label a function has that begins at a token; 0 where none begins.
    private static func unlabelledParameters(of index: Int, in text: SwiftText) -> Int {
        let tokens = text.tokens
        guard ["func", "init", "subscript"].contains(tokens[index].text), index == 0 || tokens[index - 1].text != ".",
            let open = tokens[index...].prefix(12).firstIndex(where: { $0.text == "(" }),
            let end = text.closing(of: open)
        else { return 0 }
        var (count, isFirst, position) = (0, true, open + 1)
        while position < end {
            // Places that a call marks with & are a list.
            let isPlace = tokens[position...].prefix(4).map(\.text).last == "inout"
            if isFirst, tokens[position].text == "_", !isPlace { count += 1 }
            isFirst = tokens[position].text == ","
            position = "([{".contains(tokens[position].text) ? text.closing(of: position) ?? position : position
            position += 1
        }
        return count
    }
}
