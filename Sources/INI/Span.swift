// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A stretch of one line of one source, for a diagnostic to point at.
package struct Span: Hashable, Sendable {
    /// The number of the source, from ``Problems/register(_:)``.
    package var source: Int
    /// The line, from 1.
    package var line: Int
    /// The first character, from 1; characters are Unicode scalars.
    package var column: Int
    /// The number of characters; at least 1, even if text is missing.
    package var length: Int

    /// Creates a stretch of `length` characters.
    package init(source: Int, line: Int, column: Int, length: Int = 1) {
        self.source = source
        self.line = line
        self.column = column
        self.length = max(1, length)
    }
}

/// A value with its position.
package struct Located<Value> {
    /// The value.
    package var value: Value
    /// The position of the value.
    package var span: Span

    /// Pairs a value with its position.
    package init(_ value: Value, at span: Span) {
        self.value = value
        self.span = span
    }
}

extension Located: Sendable where Value: Sendable {}
extension Located: Equatable where Value: Equatable {}
