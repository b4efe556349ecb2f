// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Tells that an event came where a machine had asked for nothing of its kind.
///
/// A defect of Rind, whatever a peer has done to bring it about: it ends one sync, never the process.
package struct UnexpectedEvent: Error, Hashable, Sendable {
    /// What the machine was at, by its name: nothing of the data.
    package let state: String
    /// What came, by its name.
    package let event: String

    init(_ event: some Any, in state: some Any) {
        self.state = Self.name(of: state)
        self.event = Self.name(of: event)
    }

    /// The name of an enum's case, without what it carries.
    static func name(of value: some Any) -> String {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .enum, let label = mirror.children.first?.label { return label }
        return String("\(value)".prefix { $0 != "(" }.prefix(64))
    }
}
