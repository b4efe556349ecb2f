// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Logging

/// The settings of a demo backend.
package struct DemoConfiguration: Sendable {
    /// The relation of update ids to commits.
    package enum Order: String, Sendable {
        /// Each id is greater than all that were committed before it: no change can be passed over.
        case commit
        /// The ids are as in Immich: random within a millisecond and made when the statement runs, so that a
        /// transaction that commits late puts its changes behind checkpoints that clients already have.
        case faithful
    }

    /// The position of the lines that state the ids that the database has given to folders and notes with a `clientId`.
    package enum IDMapLines: Sendable {
        /// No such lines.
        case none
        /// `IdMapV1` lines before all records.
        case first
        /// `IdMapV1` lines after all records.
        case last
    }

    /// A user who can log in.
    package struct Account: Hashable, Sendable {
        /// The user's id.
        package var id: String
        /// The email that the user logs in with.
        package var email: String
        /// The user's name.
        package var name: String
        /// The password, kept as it is: this backend guards nothing.
        package var password: String
        /// The access tokens that are valid from the start, each a session of its own.
        package var tokens: [String]

        /// Creates an account.
        package init(id: String, email: String, name: String, password: String = "demo", tokens: [String] = []) {
            self.id = id
            self.email = email
            self.name = name
            self.password = password
            self.tokens = tokens
        }
    }

    /// The host to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 takes a free one.
    package var port = 0
    /// The SQLite file; nil keeps everything in memory.
    package var file: String?
    /// The accounts that can log in; those that do not exist are created when the backend starts.
    package var accounts = [Account.ada, .bob]
    /// The relation of update ids to commits.
    package var order = Order.commit
    /// The header fields that carry an access token besides `Authorization` and the cookie.
    package var tokenHeaders: [String] = []
    /// True if tests and users may control the backend over HTTP below `/_demo/`.
    package var allowsSteering = false
    /// True if an update that takes a record out of a user's sight writes a delete for that user.
    package var announcesMoves = true
    /// True if a new task touches its project, so that the project's line is sent again.
    package var touchesProjects = false
    /// True if a deleted task's comments are deleted by a line of their own, `CommentsDeleteV1` with the task's id.
    package var clearsComments = false
    /// True if each note that is deleted with its folder has a delete line of its own.
    package var announcesNotes = false
    /// True if a type's deletions come behind its rows: the gateway cannot tell then which are newer.
    package var sendsDeletesLast = false
    /// The position of the lines that state ids that the database has given.
    package var idMaps = IDMapLines.none
    /// True if streams are compressed for clients that accept gzip.
    package var compresses = true
    /// True if ids that clients make are used; otherwise the backend makes its own.
    package var acceptsClientIDs = true
    /// The status of a REST request for a record that does not exist or is not visible to the user.
    package var missingStatus = 404
    /// The request types that this version of the backend has given up at the start.
    package var retirement = DemoRetirement()
    /// The number of rows of the request type `BulkTasksV1`; they are made while they are sent.
    package var bulkRows = 0
    /// The number of rows that one query reads.
    package var pageSize = 500
    /// The most bytes of a request body, except for a file's.
    package var maximumBody = 64 << 20
    /// The logger of the HTTP server.
    package var logger = Logger(label: "demo-backend") { _ in SwiftLogNoOpLogHandler() }

    /// Creates the settings of a backend in memory on a free port, with two accounts and no records.
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
