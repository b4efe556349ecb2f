// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What the configuration says about pulls, as far as decisions depend on it.
package struct PullSettings: Hashable, Sendable {
    /// Who keeps the checkpoints.
    package enum CheckpointStyle: String, CaseIterable, Sendable {
        /// The backend, for each session; they are set by ack calls.
        case server
        /// The gateway; they travel in the stream request.
        case request
    }

    /// What a client gets that presents a cursor which the stream cannot go on from.
    package enum UnknownCursor: String, CaseIterable, Sendable {
        /// Everything in `updated`, and every deletion that the stream still carries; nothing is wiped.
        case adopt
        /// `experimentalStrategy: "replacement"`; only for apps that forward it.
        case replacement
        /// A clear error.
        case refuse
    }

    /// Who keeps the checkpoints.
    package var style: CheckpointStyle
    /// What happens to unknown cursors.
    package var unknownCursor: UnknownCursor
    /// The namespace of the token on the complete line.
    package var completeNamespace: String
    /// How often a broken stream is taken up again.
    package var resumeAttempts: Int
    /// The pause before the first of these, doubled each time, in milliseconds.
    package var resumeBackoff: Int64
    /// When request types are compared as a whole; nil where no ledger is kept.
    package var comparisons: ComparisonSchedule?

    /// The settings; the defaults are those of the configuration.
    package init(
        style: CheckpointStyle = .server, unknownCursor: UnknownCursor = .adopt,
        completeNamespace: String = "SyncCompleteV1", resumeAttempts: Int = 3, resumeBackoff: Int64 = 200,
        comparisons: ComparisonSchedule? = nil
    ) {
        self.style = style
        self.unknownCursor = unknownCursor
        self.completeNamespace = completeNamespace
        self.resumeAttempts = resumeAttempts
        self.resumeBackoff = resumeBackoff
        self.comparisons = comparisons
    }
}
