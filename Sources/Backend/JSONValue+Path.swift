// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

extension JSONValue {
    /// Returns the value at a path; nil if there is none.
    package func value(at path: Path) -> JSONValue? {
        var value = self
        for step in path.steps {
            let next =
                switch step {
                case .name(let name): value[name]
                case .index(let index): value[index]
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }

    /// Returns true if the value equals a literal of the configuration.
    func equals(_ literal: Column.Literal) -> Bool {
        switch literal {
        case .string(let text): string == text
        case .number(let number): double == number
        case .boolean(let value): bool == value
        }
    }

    /// Puts a value at a path, and creates the objects and arrays on the way.
    mutating func set(_ value: JSONValue, at path: ArraySlice<Path.Step>) {
        guard let step = path.first else {
            self = value
            return
        }
        let rest = path.dropFirst()
        switch step {
        case .name(let name):
            var members = self.members ?? []
            if let index = members.firstIndex(where: { $0.name == name }) {
                members[index].value.set(value, at: rest)
            } else {
                var member = JSONValue.null
                member.set(value, at: rest)
                members.append(Member(name, member))
            }
            self = .object(members)
        case .index(let index):
            // The configuration is trusted, but an array with a million holes is never useful.
            guard (0..<1000).contains(index) else { return }
            var elements = array ?? []
            while elements.count <= index { elements.append(.null) }
            elements[index].set(value, at: rest)
            self = .array(elements)
        }
    }
}
