// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Deduplication
package import SyncModel

/// The gateway's next step of a stream; exactly one at a time, each answered by one ``StreamEvent``.
package enum StreamAction: Hashable, Sendable {
    /// Note durably what the backend holds (transactions 2 and 3).
    case storePosition(Position)
    /// Ask the backend which checkpoints it holds; answered by `listed`.
    case listCheckpoints
    /// Delete checkpoints by name. Answered by `done` or `namespacesRefused`.
    case forget([String])
    /// Delete all checkpoints of the session.
    case forgetAll
    /// Set checkpoints; never holds a reset token. Answered by `done` or `tokensRefused`.
    case acknowledge([String])
    /// Raise the session's generation and note durably that its position is unknown, in one transaction;
    /// answered by `generationRaised`.
    ///
    /// The reset acknowledgement that follows takes all checkpoints away, so it needs what every ack call needs.
    case raiseGeneration
    /// Acknowledge the reset token, alone.
    case acknowledgeReset(token: String)
    /// Go on with the spool of ``PullQuery/kept``, instead of an empty one.
    case takeCached
    /// Stream these request types from the vector on into the spool; answered by `ended` or `typesRefused`, and by
    /// `tokensRefused` if the request presents the vector.
    ///
    /// With `afresh` the spool and all counts of an earlier attempt are thrown away first.
    case open(types: [String], from: CheckpointVector, afresh: Bool)
    /// Wait this many milliseconds.
    case sleep(Int64)
}

/// The outcome of the last ``StreamAction``.
package enum StreamEvent: Hashable, Sendable {
    /// It worked and there is nothing to report.
    case done
    /// The vector that the backend lists.
    case listed(CheckpointVector)
    /// The backend says that it does not take these checkpoints, and would say so again.
    case tokensRefused
    /// The backend does not take the names of these checkpoints: it has given up what they belong to.
    case namespacesRefused
    /// The backend refuses the stream because of its request types, and its answer names these of them.
    case typesRefused(named: [String])
    /// The session's new generation.
    case generationRaised(Int)
    /// The stream is over.
    case ended(StreamReport)
}

/// The next step of a ``StreamMachine``.
enum StreamStep {
    /// Do this, and report what happened.
    case perform(StreamAction)
    /// The stream has come to an end; whoever holds the machine decides what that means.
    case ended(StreamEnd)
}

/// The end of a stream, after all attempts.
enum StreamEnd {
    /// The stream is complete.
    case complete
    /// It broke more often than it may be taken up again.
    case broken
    /// The backend demands a reset, which ``StreamMachine/serveReset(token:)`` serves.
    case reset(token: String)
    /// The backend's checkpoints are others than those that the stream began at: what has come may have gaps.
    case positionMoved
    /// It demands another one while the first is being served.
    case resetAgain
    /// The backend does not take a checkpoint that it has made: ``StreamMachine/startOver()`` does without any.
    case tokensRefused
    /// It has refused some before.
    case tokensRefusedAgain
    /// The backend takes none of the request types, which it may have said of all; or it says of no single one that it
    /// does not take it.
    case typesRefused(areAllNamed: Bool)
    /// An event came that cannot come at that point.
    case unexpected(UnexpectedEvent)
}
