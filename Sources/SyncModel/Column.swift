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

    /// The form in which a backend writes and takes timestamps.
    package enum TimestampFormat: String, CaseIterable, Sendable {
        /// ISO 8601, in UTC or with the offset of the column's zone; numbers are milliseconds.
        case iso
        /// Milliseconds since 1970.
        case millis
        /// Whole seconds since 1970; numbers that come may have a fraction.
        case seconds
        /// An HTTP date (RFC 9110, 5.6.7); numbers are milliseconds.
        case http
        /// A day of the calendar, in UTC or the column's zone; what is sent loses its time of day.
        case date
    }

    /// The backend's own words for true and false.
    package struct BooleanWords: Hashable, Sendable {
        /// The word for true, a text or a number.
        package var yes: Literal
        /// The word for false, a text or a number.
        package var no: Literal
        /// Creates a pair of words.
        package init(yes: Literal, no: Literal) {
            self.yes = yes
            self.no = no
        }
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
    /// True if only values of the column's own type are taken: nothing in another spelling.
    package var isStrict = false
    /// The form in which the backend has the column's timestamps.
    package var timestampFormat = TimestampFormat.iso
    /// The zone of times that come without one; nil takes them as UTC, which is counted.
    package var zone: ZoneOffsets?
    /// True if the backend has the column's numbers as texts, and gets them as texts.
    package var isDecimal = false
    /// True if the backend has the column's texts as numbers, and gets those that are numbers as such.
    package var isSentAsNumber = false
    /// The words that the backend has for the column's truth values; nil takes the usual ones.
    package var words: BooleanWords?
    /// True if a text column takes objects and arrays as their JSON text, and sends such a text as the value.
    package var nestsJSON = false
    /// The value that stands in for one that is missing or cannot be read; nil is the type's default.
    package var fallback: Literal?
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
