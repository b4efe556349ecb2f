// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Counts what is wrong with the lines of a stream, and remembers the first ones of each kind for operators.
package struct StreamFlaws: Sendable {
    /// What can be wrong with a line.
    package enum Kind: Hashable, Sendable {
        /// It was set aside.
        case setAside(QuarantinedLine.Reason)
        /// It has no token, or none that can be kept, so that the stream cannot be taken up again behind it.
        case noToken
        /// Its token is a number, where the protocol wants a string.
        case numberToken
        /// It is of a type that the configuration does not name.
        case unknownType

        /// The stable code in the log.
        package var code: String {
            switch self {
            case .setAside(let reason): reason.rawValue
            case .noToken: "line.no_token"
            case .numberToken: "line.number_token"
            case .unknownType: "line.unknown_type"
            }
        }
    }

    /// The lines with one flaw.
    package struct Lines: Hashable, Sendable {
        /// How many there were.
        package fileprivate(set) var count = 0
        /// The first ones: their places in the answer to one stream request, from 1 and without empty lines, and their
        /// types as far as they could be read.
        package fileprivate(set) var first: [Sight] = []

        /// A line.
        package struct Sight: Hashable, Sendable {
            /// Its place.
            package let number: Int
            /// Its type.
            package let type: String?
        }
    }

    /// How many lines of each kind are remembered, and how many bytes of a type.
    package static let (remembered, typeBytes) = (3, 64)

    /// The lines by what is wrong with them.
    package private(set) var kinds: [Kind: Lines] = [:]

    /// Nothing yet.
    package init() {}

    mutating func add(_ kind: Kind, at number: Int, type: @autoclosure () -> String?) {
        var lines = kinds[kind, default: Lines()]
        lines.count += 1
        if lines.first.count < Self.remembered {
            let type = type().map { ForeignText.escaped(ForeignText.cut($0, to: Self.typeBytes)) }
            lines.first.append(.init(number: number, type: type))
        }
        kinds[kind] = lines
    }
}
