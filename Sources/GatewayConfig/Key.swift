// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI

/// One row of the key table, with all data on one key of the file.
package struct Key: Sendable {
    /// The target of a key's value.
    enum Reader: Sendable {
        /// A property of the configuration.
        case setting(@Sendable (SourceText, inout Configuration, inout Problems) throws(Mistake) -> Void)
        /// A part of a `[table NAME]`.
        case table(@Sendable (SourceText, inout TableDraft, inout Problems) throws(Mistake) -> Void)
    }

    /// The section, such as `backend`; `table` for the keys of `[table NAME]`.
    package let section: String
    /// The key.
    package let name: String
    /// The kind of its value.
    package let type: String
    /// The allowed values, if the kind does not state them.
    package let limits: String?
    /// The default as a file would have it; nil if there is none and the key must be set, empty for "none".
    package let defaultText: String?
    /// True if the value must never be shown.
    package let isSecret: Bool
    /// The description of the key, in one line.
    package let summary: String
    /// Further facts that may surprise; empty if there are none.
    package let about: String
    /// The value in the annotated sample, if it is more than the default.
    let example: String?
    /// Gives the loaded configuration the running one's value, and returns true if they differed; nil for a key that a
    /// reload applies.
    var keep: (@Sendable (_ running: Configuration, _ loaded: inout Configuration) -> Bool)?
    /// True if an empty value has a meaning.
    var takesNothing = false
    /// The placeholders of a call, besides the parts of a sync's address; nil for a key that is no call.
    var placeholders: Set<String>?
    let reader: Reader

    /// True if the file must set the key.
    package var isRequired: Bool { defaultText == nil }
    /// True if a change takes effect with a restart only, not with a reload.
    package var needsRestart: Bool { keep != nil }

    /// The environment variable that overrides the key; nil for keys of named sections.
    package var variable: String? {
        guard case .setting = reader else { return nil }
        return "RIND_\(section.uppercased())_\(name.uppercased())"
    }

    /// Creates a key that sets a property; `restart` is true if a reload cannot apply it.
    static func setting<Value: Equatable>(
        _ section: String, _ name: String, at path: any WritableKeyPath<Configuration, Value> & Sendable,
        as format: ValueFormat<Value>, required: Bool = false, secret: Bool = false, restart: Bool = false,
        example: String? = nil, summary: String, about: String = ""
    ) -> Key {
        Key(
            section: section, name: name, type: format.name, limits: format.limits,
            defaultText: required ? nil : format.render(Configuration()[keyPath: path]), isSecret: secret,
            summary: summary, about: about, example: example, keep: restart ? keeping(path) : nil,
            takesNothing: format.takesNothing, placeholders: format.placeholders,
            reader: .setting { (text, configuration, problems) throws(Mistake) in
                configuration[keyPath: path] = try format.parse(text, &problems)
            })
    }

    private static func keeping<Value: Equatable & Sendable>(
        _ path: any WritableKeyPath<Configuration, Value> & Sendable
    ) -> @Sendable (Configuration, inout Configuration) -> Bool {
        { running, loaded in
            guard loaded[keyPath: path] != running[keyPath: path] else { return false }
            loaded[keyPath: path] = running[keyPath: path]
            return true
        }
    }

    /// Creates a key of `[table NAME]`.
    static func table(
        _ name: String, _ type: String, default defaultText: String? = "", summary: String, about: String = "",
        read: @escaping @Sendable (SourceText, inout TableDraft, inout Problems) throws(Mistake) -> Void
    ) -> Key {
        Key(
            section: "table", name: name, type: type, limits: nil, defaultText: defaultText, isSecret: false,
            summary: summary, about: about, example: nil, reader: .table(read))
    }
}
