// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Everything that a configuration file says, checked and with the defaults filled in.
///
/// One struct for each unnamed section, one property for each key in camel case; the tables and columns of the named
/// sections are in ``schema``. What loading returns is without errors; one that is put together by hand is not checked.
package struct Configuration: Hashable, Sendable {
    /// The keys of `[gateway]`.
    package var gateway = Gateway()
    /// The keys of `[wire]`.
    package var wire = Wire()
    /// The keys of `[state]`.
    package var state = State()
    /// The keys of `[identity]`.
    package var identity: Identity
    /// The keys of `[backend]`.
    package var backend: Backend
    /// The keys of `[schema]`, `[table …]` and `[columns …]`.
    package var schema: Schema
    /// `[schema] version_from`: what tells a client's schema version instead of query and body; nil where nothing does.
    package var versionFrom: VersionSource?
    /// The keys of `[pull]`.
    package var pull = Pull()
    /// The keys of `[push]`.
    package var push = Push()
    /// The keys of `[ledger]`.
    package var ledger = Ledger()
    /// The keys of `[spool]`.
    package var spool = Spool()
    /// The keys of `[limits]`.
    package var limits = Limits()
    /// The keys of `[log]`.
    package var log = Log()
    /// The keys of `[admin]`.
    package var admin = Admin()

    /// The defaults around what has none; nothing is checked.
    package init(identity: Identity, backend: Backend, schema: Schema) {
        self.identity = identity
        self.backend = backend
        self.schema = schema
    }

    /// The defaults; what has none is empty, which is why nobody else gets one of these.
    init() {
        let url = BaseURL(isTLS: false, host: "", port: nil, path: "")
        let identity = Identity(principal: .bearer, key: Secret(bytes: []))
        self.init(identity: identity, backend: Backend(url: url), schema: Schema(tables: []))
    }
}

extension Configuration {
    /// `[gateway]`: where clients reach it.
    package struct Gateway: Hashable, Sendable {
        /// The address that clients connect to.
        package var listen = ListenAddress(host: "127.0.0.1", port: 8790)
        /// The one path for both pulls and pushes; nil where there is none.
        package var syncPath: PathPattern? = PathPattern(segments: [.text("sync")])
        /// Further paths that are pulls whatever their body.
        package var pullPath = [PathPattern(segments: [.text("sync"), .text("pull")])]
        /// Further paths that are pushes whatever their body.
        package var pushPath = [PathPattern(segments: [.text("sync"), .text("push")])]
        /// Origins whose web pages may sync: `scheme://host[:port]`, or `*` alone.
        package var corsOrigins: [String] = []
        /// How long running requests may take to finish after SIGTERM.
        package var shutdownGrace: Duration = .seconds(30)

        /// The defaults.
        package init() {}
    }

    /// `[wire]`: the names that requests use and answers get.
    package struct Wire: Hashable, Sendable {
        /// Names of the cursor in queries and bodies.
        package var lastPulledAt = ["last_pulled_at", "lastPulledAt"]
        /// Names of the client's schema version.
        package var schemaVersion = ["schema_version", "schemaVersion", "schemaversion"]
        /// Names of the migration that a client says it needs.
        package var migration = ["migration", "_migration"]
        /// Names of the changes in a push.
        package var changes = ["changes"]
        /// The member names, outermost first, down to the body proper; empty where the body is it.
        package var bodyPath: [String] = []
        /// The table of a push that is one table's set alone; nil where such a push is refused.
        package var pushTable: String?
        /// Header fields, in lower case, that carry the caller's credential besides `authorization` and `cookie`.
        package var tokenHeader: [String] = []
        /// The member of a pull's answer that holds the new cursor.
        package var timestamp = "timestamp"
        /// The member names, outermost first, that are put around an answer.
        package var wrap: [String] = []

        /// The defaults.
        package init() {}
    }

    /// `[state]`: where the gateway remembers how far each client has got.
    package struct State: Hashable, Sendable {
        /// Which store.
        package var url = StateLocation.sqlite(path: "rind-state.db")
        /// How long a statement waits for another process's lock.
        package var busyTimeout: Duration = .seconds(5)

        /// The defaults.
        package init() {}
    }

    /// `[identity]`: who is calling.
    package struct Identity: Hashable, Sendable {
        /// Where the caller's lasting name comes from.
        package var principal: PrincipalSource
        /// The HMAC key of principals and sessions: at least 32 bytes.
        package var key: Secret
        /// How long the backend's yes to a credential counts.
        package var authTTL: Duration = .seconds(60)

        /// The defaults around what has none.
        package init(principal: PrincipalSource, key: Secret) {
            self.principal = principal
            self.key = key
        }
    }

    /// `[pull]`: what a pull may take, and what happens to what does not fit.
    package struct Pull: Hashable, Sendable {
        /// After how long an answer starts with white space instead of waiting for the backend; zero is never.
        package var firstByteAfter: Duration = .seconds(10)
        /// How often white space follows.
        package var keepAliveEvery: Duration = .seconds(5)
        /// How long a finished answer is kept for the very same request; zero keeps none.
        package var repeatWindow: Duration = .seconds(600)
        /// How to answer a cursor that is not in the state.
        package var unknownCursor = UnknownCursorRule.adopt
        /// The longest stream line in bytes; a longer one is quarantined.
        package var maxLine = 8 << 20
        /// The most rows of one answer; 0 is no limit.
        package var maxRows = 0
        /// How much of a quarantined line is kept.
        package var quarantineKeep = QuarantineRule.cut

        /// The defaults.
        package init() {}
    }

    /// `[push]`: how changes go to the backend.
    package struct Push: Hashable, Sendable {
        /// Where a push is sent as one stream of operations; nil is one call for each record, by the tables' templates.
        package var path: Call?
        /// What an update of a record carries to the backend.
        package var send = PushedColumns.row
        /// Who looks for conflicts, in tables that do not say otherwise; ``Table/conflicts`` is what counts for one.
        package var conflicts = ConflictChoice.auto
        /// Who deletes descendants, in tables that do not say otherwise; ``Table/cascade`` is what counts for one.
        package var cascade = CascadeRule.backend
        /// What a push without `lastPulledAt` means.
        package var withoutCursor = CursorlessPushRule.accept
        /// What a record means that the backend will never take.
        package var rejected = RejectedRecordRule.fail
        /// How many records of one principal may be set aside.
        package var quarantineEntries = 1_000
        /// How large a record may be that is set aside, in bytes of JSON.
        package var quarantineRecord = 64 << 10
        /// How long operations that may pass later are tried again in one push, altogether.
        package var retryBudget: Duration = .seconds(20)
        /// How many calls of one push, of records that do not depend on each other, are under way at the same time.
        package var parallel = 4
        /// The header field that carries a key of its own for each call that creates a record; nil is none.
        package var idempotencyHeader: String?
        /// How long the backend knows a creation by its key.
        package var idempotencyLife: Duration = .seconds(86_400)
        /// How many operations one request of a stream push has at the most; zero is all of the push.
        package var batch = 0
        /// The most records of one push.
        package var maxRecords = 100_000
        /// How many records of one principal may have ids that the backend has made.
        package var maxIDs = 1_000_000
        /// How long the answer to a push is remembered for the very same push; zero is not at all.
        package var receiptWindow: Duration = .seconds(120)

        /// The defaults.
        package init() {}
    }

    /// `[spool]`: where an answer waits until it is complete.
    package struct Spool: Hashable, Sendable {
        /// The directory of the files; nil is the system's temporary directory.
        package var dir: String?
        /// Bytes of one answer that are kept in memory before a file is used.
        package var memory = 32 << 20
        /// The most bytes of one answer.
        package var max = 4 << 30
        /// The most memory of all answers until they are sent or dropped.
        package var memoryTotal = 512 << 20
        /// The most bytes of all files; one principal alone gets half.
        package var diskTotal = 16 << 30

        /// The defaults.
        package init() {}
    }

    /// `[limits]`: what one request, and all of them together, may use.
    package struct Limits: Hashable, Sendable {
        /// The most bytes of a sync request's body as it comes.
        package var body = 32 << 20
        /// The most bytes of a sync request's body after gzip is undone.
        package var inflatedBody = 128 << 20
        /// The memory that all running pushes take together, waiting ones included.
        package var pushMemory = 512 << 20
        /// The most bytes of a request's head.
        package var headerBytes = 32 << 10
        /// How many connections of clients there may be.
        package var connections = 4_096
        /// How long a client may send nothing of a body that is wanted.
        package var bodyTimeout: Duration = .seconds(60)
        /// The least rate at which a body comes, in bytes a second; zero is none.
        package var bodyRate = 512
        /// How long the body of a sync request may take altogether.
        package var bodyTime: Duration = .seconds(600)
        /// How long a client may take nothing of an answer that waits for it.
        package var sendTimeout: Duration = .seconds(300)
        /// The least rate at which a client takes its answer, in bytes a second; zero is none.
        package var sendRate = 0
        /// How deep JSON from clients and backend may be nested.
        package var jsonDepth = 64
        /// How many pulls run at a time, over all clients.
        package var pulls = 64
        /// How many requests wait for one session's or replica's lock.
        package var queue = 8
        /// How long each of them waits.
        package var queueWait: Duration = .seconds(30)
        /// The most bytes of finished answers that are kept for repeats.
        package var answersKept = 256 << 20

        /// The defaults.
        package init() {}
    }

    /// `[log]`: what is written to standard error.
    package struct Log: Hashable, Sendable {
        /// The least important level that is written.
        package var level = LogLevel.info
        /// How a line looks.
        package var format = LogFormat.text

        /// The defaults.
        package init() {}
    }

    /// `[admin]`: the operator's own listener.
    package struct Admin: Hashable, Sendable {
        /// Where `/livez` and `/readyz` answer apart from the sync listener; nil is only there.
        package var listen: ListenAddress?

        /// The defaults.
        package init() {}
    }
}
