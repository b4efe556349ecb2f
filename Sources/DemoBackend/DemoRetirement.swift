// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOConcurrencyHelpers

/// The request types that the backend has given up, and the way in which it says so.
package struct DemoRetirement: Hashable, Sendable {
    /// The way in which a request for such a type is answered.
    package enum Style: String, CaseIterable, Sendable {
        /// A 400 at once, whose message names one such type.
        case names
        /// A 400 at once, whose message lists all types that are accepted, in the words of class-validator.
        case lists
        /// An answer only when the type's turn comes: a 400 that names the type if no line has been sent before, else a
        /// stream that stands still, as in Immich.
        case late
    }

    /// The request types.
    package var types: Set<String>
    /// The way in which requests for them are answered.
    package var style: Style

    /// Creates a retirement of these types.
    package init(_ types: Set<String> = [], style: Style = .late) {
        self.types = types
        self.style = style
    }

    /// Refuses a request as a whole, before any of it is carried out.
    ///
    /// - Throws: A 400 if the request is refused.
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
    /// The request types that the backend has given up; may be changed while it runs.
    package var retirement: DemoRetirement {
        get { retired.withLockedValue(\.self) }
        set { retired.withLockedValue { $0 = newValue } }
    }
}
