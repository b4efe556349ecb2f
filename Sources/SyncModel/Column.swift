// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The type of a column as the configuration names it; to the client there are only strings, numbers and booleans.
package enum ColumnType: String, CaseIterable, Sendable {
    case string, number, boolean
    /// A number of milliseconds for the client, ISO 8601 or a number for the backend.
    case timestamp
    /// A string of JSON text for the client, a nested value for the backend.
    case json
}

/// One column of a client's table: where its value comes from and how it goes back.
package struct Column: Hashable, Sendable {
    /// A value that stands in the configuration itself.
    package enum Literal: Hashable, Sendable {
        case string(String)
        case number(Double)
        case boolean(Bool)
    }

    /// A place that a value may come from.
    package enum Source: Hashable, Sendable {
        /// A member of the line's data; with `types` only in lines of these wire types.
        case path(Path, types: [String])
        /// The line's own wire type.
        case lineType
        /// Always this value.
        case literal(Literal)
    }

    /// How a timestamp goes back to the backend.
    package enum TimestampFormat: String, CaseIterable, Sendable {
        case iso, millis, seconds
    }

    /// The values that the backend takes, and what stands in for every other.
    package struct OneOf: Hashable, Sendable {
        /// What the backend takes.
        package var allowed: [String]
        /// What is sent instead of anything else.
        package var fallback: String
        /// A rule of these values.
        package init(allowed: [String], fallback: String) {
            self.allowed = allowed
            self.fallback = fallback
        }
    }

    /// The client's name of the column.
    package var name: String
    /// Its type.
    package var type: ColumnType
    /// Whether null is allowed; otherwise the default is `""`, `0` or `false`.
    package var isOptional = false
    /// The first of these that is present in a line wins; never empty.
    package var sources: [Source]
    /// The first schema version that has the column; 0 where it was always there.
    package var since = 0
    /// Whether it is never sent to the backend.
    package var isReadonly = false
    /// Whether it carries the backend's version of the record.
    package var isVersion = false
    /// The table that its value is an id of.
    package var reference: String?
    /// How a timestamp goes back.
    package var timestampFormat = TimestampFormat.iso
    /// Which values the backend takes.
    package var oneOf: OneOf?
    /// How many Unicode scalars of a pushed text the backend takes; nil where it takes any number.
    package var maximumLength: Int?
    /// Where it goes in a pushed record, where that is not the first source's path.
    package var sendPath: Path?

    /// A column that comes from the member of its own name.
    package init(name: String, type: ColumnType, sources: [Source]? = nil) {
        self.name = name
        self.type = type
        self.sources = sources ?? [.path(Path(name: name), types: [])]
    }

    /// Where the column goes in a record that is sent to the backend; nil where it is never sent.
    package var outgoingPath: Path? {
        if isReadonly { return nil }
        if let sendPath { return sendPath }
        for case .path(let path, _) in sources { return path }
        return nil
    }
}
