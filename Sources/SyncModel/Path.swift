// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The path to a value in a JSON document: member names and array indices, outermost first.
package struct Path: Hashable, Sendable, CustomStringConvertible {
    /// One level of the path.
    package enum Step: Hashable, Sendable {
        case name(String)
        case index(Int)
    }

    /// The steps, never empty.
    package var steps: [Step]

    /// Creates a path of these steps.
    package init(_ steps: [Step]) { self.steps = steps }

    /// Creates a path of one member name.
    package init(name: String) { steps = [.name(name)] }

    /// The steps joined with dots.
    package var description: String {
        steps.map {
            switch $0 {
            case .name(let name): name
            case .index(let index): String(index)
            }
        }.joined(separator: ".")
    }
}
