// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The type of a column as the configuration names it; the client knows only strings, numbers and booleans.
package enum ColumnType: String, CaseIterable, Sendable {
    case string, number, boolean
    /// A number of milliseconds for the client, ISO 8601 or a number for the backend.
    case timestamp
    /// A string of JSON text for the client, a nested value for the backend.
    case json
}

/// One column of a client's table: the source of its value and the form in which it goes back.
package struct Column: Hashable, Sendable {
    /// A value written in the configuration itself.
    package enum Literal: Hashable, Sendable {
        case string(String)
        case number(Double)
        case boolean(Bool)
    }

    /// A source for the column's value.
    package enum Source: Hashable, Sendable {
        /// A member of the line's data; if `types` is not empty, only in lines of these wire types.
        case path(Path, types: [String])
        /// The line's own wire type.
        case lineType
        /// Always this value.
        case literal(Literal)
    }

    /// The form in which timestamps are sent to the backend.
    package enum TimestampFormat: String, CaseIterable, Sendable {
        case iso, millis, seconds
    }

    /// The values that the backend accepts, and a substitute for all others.
    package struct OneOf: Hashable, Sendable {
        /// The values that the backend accepts.
        package var allowed: [String]
        /// The value sent instead of any other.
        package var fallback: String
        /// Creates a rule for these values.
        package init(allowed: [String], fallback: String) {
            self.allowed = allowed
            self.fallback = fallback
        }
    }

    /// The client's name for the column.
    package var name: String
    /// The column's type.
    package var type: ColumnType
    /// Allows null; otherwise the default is `""`, `0` or `false`.
    package var isOptional = false
    /// The sources in order of preference: the first one that is present in a line wins.
    ///
    /// Never empty.
    package var sources: [Source]
    /// The first schema version that has the column; 0 if it was always there.
    package var since = 0
    /// True if the column is never sent to the backend.
    package var isReadonly = false
    /// True if the column carries the backend's version of the record.
    package var isVersion = false
    /// The table whose ids the column holds.
    package var reference: String?
    /// The form in which the column's timestamps are sent to the backend.
    package var timestampFormat = TimestampFormat.iso
    /// The values that the backend accepts; nil if there is no restriction.
    package var oneOf: OneOf?
    /// The most Unicode scalars that the backend accepts in a pushed text; nil if there is no limit.
    package var maximumLength: Int?
    /// The column's path in a pushed record, if it differs from the first source's path.
    package var sendPath: Path?

    /// Creates a column; without `sources` its value comes from the member of the same name.
    package init(name: String, type: ColumnType, sources: [Source]? = nil) {
        self.name = name
        self.type = type
        self.sources = sources ?? [.path(Path(name: name), types: [])]
    }

    /// The column's path in a record that is sent to the backend; nil if it is never sent.
    package var outgoingPath: Path? {
        if isReadonly { return nil }
        if let sendPath { return sendPath }
        for case .path(let path, _) in sources { return path }
        return nil
    }
}
