// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reports an event that no action of a machine had asked for.
///
/// It is a defect of Rind, even if a peer has caused it: it ends one sync, never the process.
package struct UnexpectedEvent: Error, Hashable, Sendable {
    /// The name of the machine's state, without its data.
    package let state: String
    /// The name of the event.
    package let event: String

    init(_ event: some Any, in state: some Any) {
        self.state = Self.name(of: state)
        self.event = Self.name(of: event)
    }

    /// Returns the name of an enum's case, without its values.
    static func name(of value: some Any) -> String {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .enum, let label = mirror.children.first?.label { return label }
        return String("\(value)".prefix { $0 != "(" }.prefix(64))
    }
}
