// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The rules of WatermelonDB's sync protocol that `rind conform` tries, in the order of its table.
///
/// Most are those of https://watermelondb.dev/docs/Sync/Backend; the others are what its client fails at.
enum ConformRule: String, CaseIterable {
    case pullAnswer = "pull-answer"
    case pullChanges = "pull-changes"
    case pullTimestamp = "pull-timestamp"
    case pullLists = "pull-lists"
    case pullMembers = "pull-members"
    case pullIDs = "pull-ids"
    case pullSafeIDs = "pull-safe-ids"
    case pullOnce = "pull-once"
    case pullMarks = "pull-marks"
    case pullValues = "pull-values"
    case pullKinds = "pull-kinds"
    case pullFirstDeletions = "pull-first-deletions"
    case pullForward = "pull-forward"
    case pullIncremental = "pull-incremental"
    case pullMigration = "pull-migration"
    case pullRepeated = "pull-repeated"
    case pullUpdated = "pull-updated"
    case pullGone = "pull-gone"
    case pushText = "push-text"
    case pushCreate = "push-create"
    case pushEcho = "push-echo"
    case pushConflict = "push-conflict"
    case pushAtomic = "push-atomic"
    case pushUpdate = "push-update"
    case pushCreateAgain = "push-create-again"
    case pushUpdateMissing = "push-update-missing"
    case pushDeleteMissing = "push-delete-missing"
    case pushDelete = "push-delete"
    case pushDeleteAgain = "push-delete-again"

    /// The rule in one sentence.
    var sentence: String {
        switch self {
        case .pullAnswer: "A pull is answered with a success status and a JSON object."
        case .pullChanges: "'changes' is an object of tables, and each table is an object."
        case .pullTimestamp: "'timestamp' is a whole number from 1 to 2^53 - 1."
        case .pullLists: "Every table has the lists 'created', 'updated' and 'deleted'."
        case .pullMembers: "A table has no other members than the three lists."
        case .pullIDs: "Every record is an object with a text 'id', and every deletion is a text."
        case .pullSafeIDs: "Ids consist of A-Z, a-z, 0-9, '_', '.' and '-'."
        case .pullOnce: "No id comes twice in one table of an answer."
        case .pullMarks: "No record has '_status' or '_changed'."
        case .pullValues: "The values of a record are texts, finite numbers, booleans or null."
        case .pullKinds: "All values of a column are of one kind, or null."
        case .pullFirstDeletions: "A first pull has no deletions."
        case .pullForward: "The timestamp does not go backwards."
        case .pullIncremental: "A pull right after another one does not bring everything again."
        case .pullMigration: "A pull with a migration brings all records of the tables that it adds."
        case .pullRepeated: "A pull that is repeated with the same timestamp brings the same changes again."
        case .pullUpdated: "A changed record that the device has comes in 'updated'."
        case .pullGone: "A first pull has no record that was deleted."
        case .pushText: "A push is read as JSON although its type is text/plain."
        case .pushCreate: "A created record reaches another device."
        case .pushEcho: "A pushed record does not come back to its device in 'created'."
        case .pushConflict: "A push is refused if one of its records was changed since its timestamp."
        case .pushAtomic: "A push that is refused changes nothing."
        case .pushUpdate: "An updated record reaches another device."
        case .pushCreateAgain: "A created record that exists is updated."
        case .pushUpdateMissing: "An updated record that does not exist is created."
        case .pushDeleteMissing: "Deleting a record that does not exist succeeds."
        case .pushDelete: "A deleted record comes to another device in 'deleted'."
        case .pushDeleteAgain: "Deleting a record that is already deleted succeeds."
        }
    }

    /// True if only a push shows whether the rule holds.
    var needsPush: Bool {
        switch self {
        case .pullRepeated, .pullUpdated, .pullGone: true
        default: rawValue.hasPrefix("push-")
        }
    }

    /// The rules that every answer to a pull is held to.
    static let ofAnswers: [ConformRule] = [
        .pullChanges, .pullTimestamp, .pullLists, .pullMembers, .pullIDs, .pullSafeIDs, .pullOnce, .pullMarks,
        .pullValues, .pullKinds,
    ]
}
