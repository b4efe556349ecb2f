// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One HTTP request to the backend as the configuration writes it, with placeholders.
package struct Call: Hashable, Sendable {
    /// The meaning of a status, or of a status and a body.
    package enum Meaning: String, CaseIterable, Sendable {
        /// The operation succeeded.
        case ok
        /// The record does not exist; for a delete that is success.
        case missing
        /// The record exists already; for a create that is success.
        case exists
        /// Another client or user has changed the record.
        case conflict
        /// The backend will never accept the record.
        case rejected
    }

    /// A condition on the answer's body: the value at `path` equals `value`.
    package struct Condition: Hashable, Sendable {
        /// The path of the value.
        package var path: Path
        /// The value that it must have.
        package var value: Column.Literal
        /// Creates a condition of one value.
        package init(path: Path, value: Column.Literal) {
            self.path = path
            self.value = value
        }
    }

    /// The HTTP method in capital letters.
    package var method: String
    /// The path below the backend's URL, beginning with a slash, with `{placeholders}`.
    package var target: [TextFragment]
    /// The meanings of statuses beyond the defaults: 2xx is ok, 409 and 412 are conflict.
    ///
    /// The meaning of a 409 to a create depends on who makes the ids.
    package var statuses: [Int: Meaning] = [:]
    /// The path of a created record's backend id in the answer.
    package var returns: Path?
    /// The path at which the stream returns the client's id, which the body of a create carries as `{id}`.
    package var reference: Path?
    /// The conditions of success: a 2xx counts as ok only if one of them holds.
    ///
    /// If empty, it always does.
    package var when: [Condition] = []
    /// True if the version that the client has seen is sent as `If-Match`.
    package var sendsVersion = false
    /// The body to send; if nil, the writable columns at their paths (create, update) or nothing.
    package var body: JSONTemplate?

    /// Creates a call without a body.
    package init(method: String, target: [TextFragment]) {
        self.method = method
        self.target = target
    }

    /// The call as the configuration writes it, without its body: `PATCH /tasks/{id}`.
    package var title: String {
        let target = target.map { fragment in
            switch fragment {
            case .text(let text): text
            case .placeholder(let name): "{\(name)}"
            }
        }
        return "\(method) \(target.joined())"
    }

    /// Returns true if the target or the body contains a placeholder of this name.
    package func mentions(_ name: String) -> Bool {
        target.contains(.placeholder(name)) || body?.mentions(name) == true
    }

    /// The names of all placeholders of the target and the body; `*` for `{*}`.
    package var placeholders: Set<String> {
        var names = Set(target.placeholders)
        body?.collectPlaceholders(&names)
        return names
    }

    /// The names of the placeholders in the path, before a query.
    package var segmentPlaceholders: Set<String> {
        let path = target.prefix { fragment in
            if case .text(let text) = fragment { !text.utf8.contains(UInt8(ascii: "?")) } else { true }
        }
        return Set(path.placeholders)
    }
}

/// A piece of text or a placeholder.
package enum TextFragment: Hashable, Sendable {
    case text(String)
    /// `{id}`, `{id.1}`, `{base}`, a column's name, or a part of the sync's address such as `{path.team}`.
    case placeholder(String)
}

/// A JSON document with placeholders.
package indirect enum JSONTemplate: Hashable, Sendable {
    case null
    case boolean(Bool)
    /// The number's own spelling.
    case number(String)
    case string([TextFragment])
    /// `"{name}"` alone in quotes: the value with its own type.
    case value(String)
    /// `{*}`: all writable columns at their paths.
    case allColumns
    case array([JSONTemplate])
    case object([Member])

    /// Returns true if the document contains a placeholder of this name.
    package func mentions(_ name: String) -> Bool {
        switch self {
        case .null, .boolean, .number, .allColumns: false
        case .string(let fragments): fragments.contains(.placeholder(name))
        case .value(let value): value == name
        case .array(let elements): elements.contains { $0.mentions(name) }
        case .object(let members): members.contains { $0.value.mentions(name) }
        }
    }

    fileprivate func collectPlaceholders(_ names: inout Set<String>) {
        switch self {
        case .null, .boolean, .number: break
        case .string(let fragments): names.formUnion(fragments.placeholders)
        case .value(let name): names.insert(name)
        case .allColumns: names.insert("*")
        case .array(let elements): for element in elements { element.collectPlaceholders(&names) }
        case .object(let members): for member in members { member.value.collectPlaceholders(&names) }
        }
    }

    /// A member of an object.
    package struct Member: Hashable, Sendable {
        /// The member's name.
        package var name: String
        /// Its value.
        package var value: JSONTemplate
        /// Creates a member.
        package init(name: String, value: JSONTemplate) {
            self.name = name
            self.value = value
        }
    }
}

extension Sequence where Element == TextFragment {
    /// The names of the placeholders.
    fileprivate var placeholders: [String] {
        compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
    }
}
