// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Finds out which request types the backend does not take any more.
///
/// Some backends name what they do not take, others what they do; the latter are found out by asking.
struct TypeRefusals: Sendable {
    /// The step after a refusal.
    enum Outcome {
        /// Ask for the others, from this vector on.
        case goOn(CheckpointVector)
        /// There is nothing that could be asked for; to a check, the backend has said so of all types.
        case nothingLeft(areAllNamed: Bool)
    }

    /// Those that are not asked for any more.
    private(set) var types: Set<String> = []
    /// Those that the first refusal has named.
    private var named: Set<String> = []
    private var count = 0
    /// The vector of the stream when the refusals began; nil once the backend streams again.
    private var beginning: CheckpointVector?

    /// Takes in a refusal that names some of the client's request types.
    ///
    /// What was only tried without must not start over, so the vector of the first refusal counts.
    mutating func refuse(_ named: Set<String>, of query: StreamQuery, at vector: CheckpointVector) -> Outcome {
        let all = query.requestTypes
        let asked = Set(all).subtracting(types)
        let named = named.intersection(asked)
        if query.isCheck, named == asked {
            types.formUnion(named)
            return .nothingLeft(areAllNamed: true)
        }
        count += 1
        // A backend may name what it has given up one type at a time.
        guard count <= all.count + 2 else { return .nothingLeft(areAllNamed: false) }
        if !named.isEmpty, named.count < asked.count {
            if self.named.isEmpty { self.named = named }
            types.formUnion(named)
        } else {
            let others = Set(all).subtracting(self.named)
            guard !self.named.isEmpty, types != others else { return .nothingLeft(areAllNamed: false) }
            types = others
        }
        let start = beginning ?? vector
        beginning = start
        return .goOn(start)
    }

    /// The reading of a further refusal of the stream request.
    var reading: RefusalReading { types.isEmpty ? .byNames : .byStatus }

    /// Forgets the beginning, because the backend streams, or everything begins anew.
    mutating func forgetBeginning() { beginning = nil }
}

/// The reading of the backend's refusal of a stream request.
package enum RefusalReading: Hashable, Sendable {
    /// It is about request types if it names some.
    case byNames
    /// It may be about request types even if it names none: types were left out because a refusal has named some, and a
    /// 400 that names none is about the same types.
    case byStatus
    /// It is about nothing but the comparison of a whole type, which fails.
    case failure

    /// Returns true if a refusal that names no request types is about some.
    package func isAboutTypes(status: Int) -> Bool { self == .byStatus && status == 400 }

    /// Returns true if a refusal of a request that presents tokens may be about these.
    ///
    /// Common APIs say so with 400, or with 410 where a token is too old; without tokens the request shows whether it
    /// was about something else.
    package func isAboutTokens(status: Int) -> Bool { self != .failure && [400, 410, 412, 422].contains(status) }
}
