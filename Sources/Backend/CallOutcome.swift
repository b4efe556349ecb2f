// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a single write call came to.
package struct CallOutcome: Hashable, Sendable {
    /// What the answer means.
    package enum Meaning: Hashable, Sendable {
        /// It is applied.
        case ok
        /// The record is not there; for a deletion that is as good as applied.
        case missing
        /// The record is there already; for a creation that is as good as applied.
        case exists
        /// Somebody else has changed it.
        case conflict
        /// The backend will never take it as it is.
        case rejected
    }

    /// What the answer means.
    package var meaning: Meaning
    /// The HTTP status.
    package var status: Int
    /// The backend's own id of a created record, where the call says where it stands.
    package var id: String?
    /// What the backend says, cut; for the log at debug only.
    package var message: String

    /// An outcome.
    package init(meaning: Meaning, status: Int, id: String? = nil, message: String = "") {
        self.meaning = meaning
        self.status = status
        self.id = id
        self.message = message
    }
}
