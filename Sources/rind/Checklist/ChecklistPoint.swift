// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The points of the checklist in docs/BACKEND-PROTOCOL.md, in its order.
enum ChecklistPoint: CaseIterable {
    case emptyAccount, confirmed, oneLineEach, otherUsers, twoSessions, setBack, lateCommit, laggingReplica
    case changedMeanwhile
    case joinedProject, movedRecord, deletedParent, oldToken, futureToken, firstDeletion, unknownType, cut, slowReader,
        failed
    case badLine, lostParent, sameKey, oldBase

    /// The point as the page has it.
    var sentence: String {
        switch self {
        case .emptyAccount: "An empty account gives exactly one line, the complete line."
        case .confirmed: "Confirm every token and ask again: only the complete line comes."
        case .oneLineEach: "Create, change, delete, each alone: one line each. Changed three times: one line."
        case .otherUsers: "Other users' records appear in no stream, and neither do their deletes."
        case .twoSessions: "Two sessions of a user have checkpoints of their own."
        case .setBack:
            "Set a checkpoint back: what came after it comes again. Forget one: everything of its namespace comes."
        case .lateCommit: "Two transactions, the first commits last: its change arrives."
        case .laggingReplica:
            "Stop a replica that streams are read from, push, and start it again: the push comes with a later stream."
        case .changedMeanwhile:
            "Change a record while a stream runs: it is in that stream or in the next, never in neither."
        case .joinedProject:
            "Join a project: its old records come. Leave it: its delete comes. Join again: they come again."
        case .movedRecord:
            "Move a record to where a user cannot see it: a delete comes. Move it back: it comes with its descendants."
        case .deletedParent:
            "A deleted parent: its delete comes; the children's come too, or are configured to follow it."
        case .oldToken: "A complete token older than the deletions are kept: a reset, until it is confirmed."
        case .futureToken:
            "A token that the backend cannot have made, ahead of its counter or of before a restored backup: a reset."
        case .firstDeletion:
            "Delete the first record of a type after a client has synced: its line comes, although the client has no "
                + "token of deletions."
        case .unknownType: "An unknown request type: 400, nothing streamed."
        case .cut:
            "Cut the connection in the middle of a line: the next stream goes on after the last confirmed token."
        case .slowReader:
            "A client that reads nothing: the backend's memory does not grow. One that disconnects: its query ends."
        case .failed: "Fail in the middle of a stream: the connection closes, without an end of the body."
        case .badLine: "Push with one bad line among good ones: nothing is applied, and the answer names the bad one."
        case .lostParent:
            "Push a new record whose parent does not exist, or is not seen: `rejected`, and never `conflict`."
        case .sameKey: "Push twice with one key: applied once, the same answer. With another body: 422."
        case .oldBase: "Push with an old `base`: 409. An update of a deleted record: 409. A delete of nothing: 200."
        }
    }

    /// The points that a credential alone can show.
    static let withinReach = allCases.filter { $0.beyondReach == nil }

    /// True if only pushes show whether the point holds.
    var needsPush: Bool { [.oneLineEach, .badLine, .lostParent, .sameKey, .oldBase].contains(self) }

    /// True if only a second account shows whether the point holds, and pushes of the first.
    var needsOtherUser: Bool { self == .otherUsers || self == .movedRecord }

    /// The means that one credential alone does not give; nil if it is enough.
    var beyondReach: String? {
        switch self {
        case .emptyAccount, .confirmed, .oneLineEach, .setBack, .unknownType, .cut, .futureToken, .badLine, .lostParent,
            .sameKey, .oldBase:
            nil
        case .otherUsers, .movedRecord: "needs a second user: give the field of the credential twice"
        case .twoSessions: "needs a second session of the account: give the field of the credential twice"
        case .joinedProject: "to be tried by hand: let a second user join and leave"
        case .lateCommit: "to be tried by hand, with two open transactions"
        case .laggingReplica: "to be tried by hand, with a replica that is stopped"
        case .changedMeanwhile: "to be tried by hand, with a change while a stream runs"
        case .deletedParent: "to be tried by hand, with a record that has children"
        case .oldToken: "to be tried by hand, with a token older than the deletions are kept"
        case .firstDeletion: "to be tried by hand, with a type of which nothing was ever deleted"
        case .slowReader: "to be tried by hand, with a look at the backend's memory and queries"
        case .failed: "to be tried by hand, with a fault inside the backend"
        }
    }
}
