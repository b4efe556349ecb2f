// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Counts the flaws of the lines of a stream, and remembers the first lines with each flaw for operators.
package struct StreamFlaws: Sendable {
    /// The flaws that a line can have.
    package enum Kind: Hashable, Sendable {
        /// A line that was quarantined.
        case quarantined(QuarantinedLine.Reason)
        /// A line without a token, or with one that cannot be kept, so that the stream cannot be resumed behind the
        /// line.
        case noToken
        /// A line whose token is a number, although the protocol requires a string.
        case numberToken
        /// A line of a type that the configuration does not name.
        case unknownType

        /// The stable code in the log.
        package var code: String {
            switch self {
            case .quarantined(let reason): reason.rawValue
            case .noToken: "line.no_token"
            case .numberToken: "line.number_token"
            case .unknownType: "line.unknown_type"
            }
        }
    }

    /// The lines with one flaw.
    package struct Lines: Hashable, Sendable {
        /// The number of lines with the flaw.
        package fileprivate(set) var count = 0
        /// The first of these lines, at most ``StreamFlaws/remembered``.
        package fileprivate(set) var first: [Sight] = []

        /// A line with a flaw.
        package struct Sight: Hashable, Sendable {
            /// The line's number in the answer to one stream request, from 1 and without empty lines.
            package let number: Int
            /// The line's type, as far as it could be read; escaped and cut for logs.
            package let type: String?
        }
    }

    /// The number of lines of each kind that are remembered, and the number of bytes of a type.
    package static let (remembered, typeBytes) = (3, 64)

    /// The lines by their flaw.
    package private(set) var kinds: [Kind: Lines] = [:]

    /// Creates an empty count.
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
