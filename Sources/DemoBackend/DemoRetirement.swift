// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOConcurrencyHelpers

/// Request types that the backend has given up, and how it says so.
package struct DemoRetirement: Hashable, Sendable {
    /// The form of the refusal of such a type.
    package enum Style: String, CaseIterable, Sendable {
        /// A 400 at once, whose message names one such type.
        case names
        /// A 400 at once, whose message lists every type that is taken, as class-validator words it.
        case lists
        /// A refusal in the type's turn: a 400 that names the type if no line has gone out before; else the stream
        /// stands still, as in Immich.
        case late
    }

    /// The request types.
    package var types: Set<String>
    /// The form of the refusal.
    package var style: Style

    /// Gives up these types.
    package init(_ types: Set<String> = [], style: Style = .late) {
        self.types = types
        self.style = style
    }

    /// Refuses a request as a whole before anything of it is done.
    ///
    /// - Throws: The 400.
    func check(_ asked: Set<String>) throws {
        guard let type = StreamType.requestOrder.first(where: asked.intersection(types).contains) else { return }
        switch style {
        case .names: throw Self.refusal(of: type)
        case .lists:
            let taken = StreamType.requestOrder.filter { !types.contains($0) }.joined(separator: ", ")
            throw DemoError(
                status: .badRequest, message: "each value in types must be one of the following values: \(taken)",
                isValidation: true)
        case .late: break
        }
    }

    static func refusal(of type: String) -> DemoError { .badRequest("\(type) is not supported any more") }
}

extension DemoBackend {
    /// The request types that it has given up; change it while it runs.
    package var retirement: DemoRetirement {
        get { retired.withLockedValue(\.self) }
        set { retired.withLockedValue { $0 = newValue } }
    }
}
