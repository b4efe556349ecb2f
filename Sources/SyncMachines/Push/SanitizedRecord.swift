// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// A pushed record after the whitelist and the type rules: what may go to the backend, in the backend's types.
package struct SanitizedRecord: Hashable, Sendable {
    /// The values of the writable columns that the client sent, by the client's column name, in configured order.
    package var values: [(column: Column, value: JSONValue)] = []
    /// The number of members that are no columns; they are dropped.
    package var dropped = 0
    /// The columns whose values were repaired.
    package var repaired: [String] = []
    /// The columns whose default is not sent, because the backend may have a value that could not be read.
    package var withheld: [String] = []

    /// The value of the column that is marked `version`, readonly or not: what the client had seen of the record.
    package var version: JSONValue?

    /// The columns that the client says it has changed; nil where it does not say.
    package var changed: Set<String>?

    /// Only what the client has changed; all of it where the client does not say.
    package var onlyChanged: Self {
        guard let changed else { return self }
        var record = self
        record.values = values.filter { changed.contains($0.column.name) }
        return record
    }

    /// Returns the value of one column; nil if the client did not send it.
    package func value(of column: String) -> JSONValue? { values.first { $0.column.name == column }?.value }

    /// The writable columns at their paths, as the backend wants to see them.
    package var data: JSONValue {
        var data = JSONValue.object([])
        for (column, value) in values {
            if let path = column.outgoingPath { data.set(value, at: path.steps[...]) }
        }
        return data
    }

    /// Returns true if both have the same values.
    package static func == (a: Self, b: Self) -> Bool {
        a.dropped == b.dropped && a.repaired == b.repaired && a.changed == b.changed && a.version == b.version
            && a.values.elementsEqual(b.values) { $0.column == $1.column && $0.value == $1.value }
    }

    /// Feeds what `==` compares.
    package func hash(into hasher: inout Hasher) {
        for (column, value) in values {
            hasher.combine(column.name)
            hasher.combine(value)
        }
    }
}

extension JSONValue {
    /// Puts a value where the path says, making objects on the way; steps that are indices count as names.
    package mutating func set(_ value: JSONValue, at steps: ArraySlice<Path.Step>) {
        guard let step = steps.first else {
            self = value
            return
        }
        let name =
            switch step {
            case .name(let name): name
            case .index(let index): String(index)
            }
        var members = self.members ?? []
        if let index = members.firstIndex(where: { $0.name == name }) {
            members[index].value.set(value, at: steps.dropFirst())
        } else {
            var nested = JSONValue.object([])
            nested.set(value, at: steps.dropFirst())
            members.append(Member(name, nested))
        }
        self = .object(members)
    }
}
