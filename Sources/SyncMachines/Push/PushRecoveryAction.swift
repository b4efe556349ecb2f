// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The next step; exactly one at a time, each answered by one ``PushRecoveryEvent``.
package enum PushRecoveryAction: Hashable, Sendable {
    /// Make the request of this creation again; answered by `answered`.
    case repeatRequest(Int)
    /// Ask the backend for something else, because it has not answered the request; answered by `backendAnswers`.
    case askBackend
    /// Count an attempt for this creation, durably; answered by `tried` or `givenUpBefore`.
    case countTry(Int)
    /// Note durably that these creations are given up.
    case giveUp([Int])
    /// Look for these creations in the stream, from the push's cursor on or in all of it; answered by `found` or
    /// `outOfReach`.
    case search([Int], fromCursor: Bool)
    /// The end: these ids were found, and these creations stay unknown.
    case close(found: [Int: String], lost: [Int])
    /// The end: the journal stays open, and whoever comes next begins anew.
    case fail(PushRecoveryFailure)
}

/// The outcome of the last ``PushRecoveryAction``.
package enum PushRecoveryEvent: Hashable, Sendable {
    /// It is done.
    case done
    /// The outcome of a repeated request.
    case answered(PushRecoveryAnswer)
    /// True if the backend answers other requests of the caller.
    case backendAnswers(Bool)
    /// The number of attempts, and the milliseconds since the first one.
    case tried(Int, over: Int64)
    /// The record was given up already, when an earlier push was recovered.
    case givenUpBefore
    /// The ids of those that were found, and all those whose request types the backend refuses.
    case found([Int: String], refused: Set<Int>)
    /// The stream cannot go on from there.
    case outOfReach
}

/// The outcome of a repeated request.
package enum PushRecoveryAnswer: Hashable, Sendable {
    /// An answer that has a meaning, with the record's id if it holds one; `isConfigured` if the configuration gives
    /// the status its meaning.
    case meant(Call.Meaning, id: String?, status: Int, isConfigured: Bool)
    /// A refusal with this status, which has no meaning.
    case refused(status: Int)
    /// No answer, or a failure of the backend or of what stands before it.
    case failed
    /// No answer, because the gateway did not come to ask.
    case failedHere
    /// An answer that cannot be understood, or a request that cannot be made.
    case other
}

/// The reason why a journal stays open.
package enum PushRecoveryFailure: Hashable, Sendable {
    /// The gateway did not come to ask.
    case failedHere
    /// The backend does not answer a request that is repeated.
    case unanswered
    /// The backend refuses the request type of a creation that was not found.
    case typesRefused
    /// The stream does not even begin.
    case streamBroken
    /// An event came that no action had asked for.
    case unexpected(UnexpectedEvent)
}

extension PushRecoveryAnswer {
    /// The meaning of an answer for the creation.
    enum Verdict: Hashable {
        /// It has happened, before or just now, and the record has this id.
        case created(String)
        /// It has not happened, and will not.
        case refused
        /// The answer does not say what has happened, and will not say so another time: the stream may.
        case unanswerable
        /// No news yet: the request is still running, did not arrive, or may not have arrived.
        case later
        /// No news, of the backend either.
        case failedHere
    }

    var verdict: Verdict {
        switch self {
        case .meant(let meaning, let id, let status, let isConfigured):
            switch meaning {
            case .ok, .exists:
                id.flatMap { (1...RecordID.maximumLength).contains($0.utf8.count) ? .created($0) : nil }
                    ?? .unanswerable
            case .rejected: .refused
            // The first request is still running (draft-ietf-httpapi-idempotency-key-header, section 2.6).
            case .conflict: status == 409 && !isConfigured ? .later : .unanswerable
            case .missing: .unanswerable
            }
        // If the backend refuses the request now, it has refused it before, too; if it no longer knows the caller or
        // the address, it has not looked at the request.
        case .refused(status: 400), .refused(status: 422): .refused
        case .refused(status: 401), .refused(status: 408), .refused(status: 425), .failed: .later
        case .refused, .other: .unanswerable
        case .failedHere: .failedHere
        }
    }
}
