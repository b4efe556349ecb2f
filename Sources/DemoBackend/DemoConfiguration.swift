// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Logging

/// What a demo backend is started with.
package struct DemoConfiguration: Sendable {
    /// How update ids relate to commits.
    package enum Order: String, Sendable {
        /// Every id is greater than all that were committed before it: no change can be passed over.
        case commit
        /// As Immich does it: random within a millisecond, made when the statement runs, so that a transaction that
        /// commits late puts its changes behind checkpoints that clients already have.
        case faithful
    }

    /// Where streams tell which ids the database has given to folders and notes that came with a `clientId`.
    package enum IDMapLines: Sendable {
        /// Nowhere.
        case none
        /// By `IdMapV1` lines before all records.
        case first
        /// By `IdMapV1` lines after them.
        case last
    }

    /// Somebody who can log in.
    package struct Account: Hashable, Sendable {
        /// The user's id.
        package var id: String
        /// What they log in with.
        package var email: String
        /// What they are called.
        package var name: String
        /// The password, kept as it is: this backend guards nothing.
        package var password: String
        /// Access tokens that are valid from the start, each a session of its own.
        package var tokens: [String]

        /// An account.
        package init(id: String, email: String, name: String, password: String = "demo", tokens: [String] = []) {
            self.id = id
            self.email = email
            self.name = name
            self.password = password
            self.tokens = tokens
        }
    }

    /// Where to listen.
    package var host = "127.0.0.1"
    /// The port; 0 takes a free one.
    package var port = 0
    /// The SQLite file; nil keeps everything in memory.
    package var file: String?
    /// Who can log in; they are made when the backend starts, if they do not exist.
    package var accounts = [Account.ada, .bob]
    /// How update ids relate to commits.
    package var order = Order.commit
    /// Header fields that carry an access token besides `Authorization` and the cookie.
    package var tokenHeaders: [String] = []
    /// Whether tests and people may steer it over HTTP below `/_demo/`.
    package var allowsSteering = false
    /// Whether an update that takes a record out of a user's sight writes a delete for that user.
    package var announcesMoves = true
    /// Whether a new task touches its project, so that the project's line is sent again.
    package var touchesProjects = false
    /// Whether a deleted task's comments are told by a line of their own, `CommentsDeleteV1` with the task's id.
    package var clearsComments = false
    /// Whether each note that goes with a deleted folder has a delete line of its own.
    package var announcesNotes = false
    /// Where streams tell of ids that the database has given.
    package var idMaps = IDMapLines.none
    /// Whether streams are compressed for clients that accept gzip.
    package var compresses = true
    /// Whether ids that clients make are used; otherwise the backend makes its own.
    package var acceptsClientIDs = true
    /// The status of a REST request for a record that is not there, or not the user's.
    package var missingStatus = 404
    /// Request types that this version of the backend has given up, to begin with.
    package var retirement = DemoRetirement()
    /// How many rows the request type `BulkTasksV1` has; they are made while they are sent.
    package var bulkRows = 0
    /// How many rows one query reads.
    package var pageSize = 500
    /// The most bytes of a request body other than a file's.
    package var maximumBody = 64 << 20
    /// Where to log.
    package var logger = Logger(label: "demo-backend") { _ in SwiftLogNoOpLogHandler() }

    /// A backend in memory on a free port, with two accounts and nothing in it.
    package init() {}
}

extension DemoConfiguration.Account {
    /// The first of the two usual accounts.
    package static let ada = Self(
        id: "018f3a5e-0000-7000-8000-00000000000a", email: "ada@example.com", name: "Ada", tokens: ["ada-token"])
    /// The second of the two usual accounts.
    package static let bob = Self(
        id: "018f3a5e-0000-7000-8000-00000000000b", email: "bob@example.com", name: "Bob", tokens: ["bob-token"])
}
