// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One HTTP request to the backend as the configuration writes it, with places to fill in.
package struct Call: Hashable, Sendable {
    /// A status, or a meaning that statuses and bodies are given.
    package enum Meaning: String, CaseIterable, Sendable {
        /// It worked.
        case ok
        /// The record is not there; for a delete that is success.
        case missing
        /// The record is there already; for a create that is success.
        case exists
        /// Somebody else changed it.
        case conflict
        /// The backend will never take it.
        case rejected
    }

    /// A condition on the answer's body: the value at `path` is one of `values`, or one of the further alternatives.
    package struct Condition: Hashable, Sendable {
        /// Where to look.
        package var path: Path
        /// What must stand there.
        package var value: Column.Literal
        /// A condition of one value.
        package init(path: Path, value: Column.Literal) {
            self.path = path
            self.value = value
        }
    }

    /// The HTTP method in capital letters.
    package var method: String
    /// The path below the backend's URL, beginning with a slash, with `{placeholders}`.
    package var target: [TextFragment]
    /// What statuses mean beyond the defaults: 2xx is ok, 409 and 412 are conflict; what a 409 to a creation
    /// means, depends on who makes the ids.
    package var statuses: [Int: Meaning] = [:]
    /// Where the backend's id of a created record stands in its answer.
    package var returns: Path?
    /// Where the stream gives back the client's id, which the body of a create carries as `{id}`.
    package var reference: Path?
    /// A 2xx counts as ok only if one of these holds; empty means always.
    package var when: [Condition] = []
    /// Whether the version that the client has seen goes along as `If-Match`.
    package var sendsVersion = false
    /// The body to send; nil sends the writable columns at their paths (create, update) or nothing.
    package var body: JSONTemplate?

    /// A call without body.
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

    /// Whether a placeholder of this name stands in the target or in the body.
    package func mentions(_ name: String) -> Bool {
        target.contains(.placeholder(name)) || body?.mentions(name) == true
    }
}

/// A piece of text with places to fill in.
package enum TextFragment: Hashable, Sendable {
    case text(String)
    /// `{id}`, `{id.1}`, `{base}` or a column's name.
    case placeholder(String)
}

/// A JSON document with places to fill in.
package indirect enum JSONTemplate: Hashable, Sendable {
    case null
    case boolean(Bool)
    /// The number's own spelling.
    case number(String)
    case string([TextFragment])
    /// `"{name}"` alone in quotes: the value with its type.
    case value(String)
    /// `{*}`: all writable columns at their paths.
    case allColumns
    case array([JSONTemplate])
    case object([Member])

    /// Whether a placeholder of this name stands anywhere in it.
    package func mentions(_ name: String) -> Bool {
        switch self {
        case .null, .boolean, .number, .allColumns: false
        case .string(let fragments): fragments.contains(.placeholder(name))
        case .value(let value): value == name
        case .array(let elements): elements.contains { $0.mentions(name) }
        case .object(let members): members.contains { $0.value.mentions(name) }
        }
    }

    /// A member of an object.
    package struct Member: Hashable, Sendable {
        /// The member's name.
        package var name: String
        /// Its value.
        package var value: JSONTemplate
        /// A member.
        package init(name: String, value: JSONTemplate) {
            self.name = name
            self.value = value
        }
    }
}
