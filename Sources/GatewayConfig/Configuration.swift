// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// All settings of a configuration file, checked and with the defaults filled in.
///
/// There is one struct for each unnamed section and one property for each key, in camel case; the tables and columns of
/// the named sections are in ``schema``. A loaded configuration is without errors; one created in code is not checked.
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
    /// `[schema] version_from`: the source of a client's schema version instead of its query and body; nil if there is
    /// none.
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

    /// Creates a configuration with the defaults for all other sections; it is not checked.
    package init(identity: Identity, backend: Backend, schema: Schema) {
        self.identity = identity
        self.backend = backend
        self.schema = schema
    }

    /// Creates the defaults; settings without one are empty, so this is for this module only.
    init() {
        let url = BaseURL(isTLS: false, host: "", port: nil, path: "")
        let identity = Identity(principal: .bearer, key: Secret(bytes: []))
        self.init(identity: identity, backend: Backend(url: url), schema: Schema(tables: []))
    }
}

extension Configuration {
    /// `[gateway]`: the addresses and paths for clients.
    package struct Gateway: Hashable, Sendable {
        /// The address that clients connect to.
        package var listen = ListenAddress(host: "127.0.0.1", port: 8790)
        /// The one path for both pulls and pushes; nil if there is none.
        package var syncPath: PathPattern? = PathPattern(segments: [.text("sync")])
        /// Further paths that are pulls for any body.
        package var pullPath = [PathPattern(segments: [.text("sync"), .text("pull")])]
        /// Further paths that are pushes for any body.
        package var pushPath = [PathPattern(segments: [.text("sync"), .text("push")])]
        /// The origins whose web pages may sync: `scheme://host[:port]`, or `*` alone.
        package var corsOrigins: [String] = []
        /// The peers that are proxies, which state who a client is.
        package var trustedProxies = AddressRange.thisMachine
        /// True if each connection begins with a header of the PROXY protocol.
        package var proxyProtocol = false
        /// The file of the certificate, with its chain, for TLS to clients; nil for plain HTTP.
        package var tlsCertificate: String?
        /// The file of its private key; nil if that is in the certificate's file.
        package var tlsKey: String?
        /// The time between SIGTERM and the end of listening.
        package var shutdownDelay: Duration = .zero
        /// The longest time for running requests to finish after that.
        package var shutdownGrace: Duration = .seconds(30)

        /// Creates the defaults.
        package init() {}
    }

    /// `[wire]`: the names that requests use and answers get.
    package struct Wire: Hashable, Sendable {
        /// The names of the cursor in queries and bodies.
        package var lastPulledAt = ["last_pulled_at", "lastPulledAt"]
        /// The names of the client's schema version.
        package var schemaVersion = ["schema_version", "schemaVersion", "schemaversion"]
        /// The names of the migration that a client needs.
        package var migration = ["migration", "_migration"]
        /// The names of the changes in a push.
        package var changes = ["changes"]
        /// The member names, outermost first, down to the actual body; empty if it is not wrapped.
        package var bodyPath: [String] = []
        /// The table of a push that is one table's set alone; nil if such a push is refused.
        package var pushTable: String?
        /// The parameters of the query that calls may use.
        package var scope: [String] = []
        /// The header fields, in lower case, that carry the caller's credential besides `authorization` and `cookie`.
        package var tokenHeader: [String] = []
        /// The member of a pull's answer that holds the new cursor.
        package var timestamp = "timestamp"
        /// The member names, outermost first, that are put around an answer.
        package var wrap: [String] = []

        /// Creates the defaults.
        package init() {}
    }

    /// `[state]`: the store of each client's progress.
    package struct State: Hashable, Sendable {
        /// The location of the store.
        package var url = StateLocation.sqlite(path: "rind-state.db")
        /// The time for which a statement waits for another process's lock.
        package var busyTimeout: Duration = .seconds(5)
        /// The schema of a PostgreSQL database.
        package var schema = "rind"
        /// The most connections to PostgreSQL.
        package var poolSize = 8
        /// The time after which a gateway that has died or is paused no longer keeps others from its users' syncs.
        package var lease: Duration = .seconds(9)
        /// The longest time for opening one connection to PostgreSQL.
        package var connectTimeout: Duration = .seconds(5)
        /// The longest time for one call to PostgreSQL.
        package var statementTimeout: Duration = .seconds(5)
        /// True to prepare statements once for each connection to PostgreSQL.
        package var preparesStatements = true

        /// Creates the defaults.
        package init() {}
    }

    /// `[identity]`: the identity of the caller.
    package struct Identity: Hashable, Sendable {
        /// The source of the caller's lasting name.
        package var principal: PrincipalSource
        /// The source of the session's name; nil for the credential.
        package var session: SessionSource?
        /// The HMAC key of principals and sessions: at least 32 bytes.
        package var key: Secret
        /// The time for which the backend's acceptance of a credential is valid.
        package var authTTL: Duration = .seconds(60)
        /// The place of the keys that verify tokens.
        package var jwtKeys: TokenKeySource?
        /// A file of the certificate authorities that are trusted for the URL of the keys.
        package var jwtCAFile: String?
        /// The algorithms that a token's signature may have.
        package var jwtAlgorithms: [TokenAlgorithm] = [.rs256, .es256]
        /// The issuer that tokens must name; nil for any.
        package var jwtIssuer: String?
        /// The audiences of which a token must name one; empty for any.
        package var jwtAudience: [String] = []
        /// The time by which the issuer's clock may differ.
        package var jwtLeeway: Duration = .seconds(60)
        /// The time between two fetches of the keys.
        package var jwtRefresh: Duration = .seconds(600)
        /// The time for which keys count after that, if they cannot be fetched.
        package var jwtStale: Duration = .seconds(86_400)

        /// Creates an identity with the defaults for all other keys.
        package init(principal: PrincipalSource, key: Secret) {
            self.principal = principal
            self.key = key
        }
    }

    /// `[pull]`: the limits of a pull, and the treatment of lines and cursors that do not fit.
    package struct Pull: Hashable, Sendable {
        /// The time after which an answer starts with white space instead of waiting for the backend; zero for never.
        package var firstByteAfter: Duration = .seconds(10)
        /// The time between further white space.
        package var keepAliveEvery: Duration = .seconds(5)
        /// The time for which a finished answer is kept for the very same request; zero keeps none.
        package var repeatWindow: Duration = .seconds(600)
        /// The answer to a cursor that is not in the state.
        package var unknownCursor = UnknownCursorRule.adopt
        /// The longest stream line in bytes; a longer one is quarantined.
        package var maxLine = 8 << 20
        /// The most rows of one answer; 0 for no limit.
        package var maxRows = 0
        /// The part of a quarantined line that is kept.
        package var quarantineKeep = QuarantineRule.cut

        /// Creates the defaults.
        package init() {}
    }

    /// `[push]`: the ways in which changes go to the backend.
    package struct Push: Hashable, Sendable {
        /// The call that sends a push as one stream of operations; nil for one call for each record, by the tables'
        /// templates.
        package var path: Call?
        /// The columns of an update that are sent to the backend.
        package var send = PushedColumns.row
        /// The side that looks for conflicts, in tables without a choice of their own; ``Table/conflicts`` decides for
        /// one table.
        package var conflicts = ConflictChoice.auto
        /// The side that deletes descendants, in tables without a choice of their own; ``Table/cascade`` decides for
        /// one table.
        package var cascade = CascadeRule.backend
        /// The outcome of a push without `lastPulledAt`.
        package var withoutCursor = CursorlessPushRule.accept
        /// The outcome of a record that the backend will never accept.
        package var rejected = RejectedRecordRule.fail
        /// The most records of one principal in quarantine.
        package var quarantineEntries = 1_000
        /// The largest record that is quarantined, in bytes of JSON.
        package var quarantineRecord = 64 << 10
        /// The total time in one push for which operations that may succeed later are tried again.
        package var retryBudget: Duration = .seconds(20)
        /// The most calls of one push in flight at a time, for records that do not depend on each other.
        package var parallel = 4
        /// The header field that carries a separate key for each call that creates a record; nil for none.
        package var idempotencyHeader: String?
        /// The time for which the backend recognises a creation by its key.
        package var idempotencyLife: Duration = .seconds(86_400)
        /// The most operations of one request of a stream push; zero for the whole push.
        package var batch = 0
        /// The most records of one push.
        package var maxRecords = 100_000
        /// The most records of one principal with ids made by the backend.
        package var maxIDs = 1_000_000
        /// The time for which the answer to a push is remembered for the very same push; zero for not at all.
        package var receiptWindow: Duration = .seconds(120)

        /// Creates the defaults.
        package init() {}
    }

    /// `[spool]`: the storage of an answer until it is complete.
    package struct Spool: Hashable, Sendable {
        /// The directory of the files; nil is the system's temporary directory.
        package var dir: String?
        /// The bytes of one answer that are kept in memory before a file is used.
        package var memory = 8 << 20
        /// The most bytes of one answer.
        package var max = 4 << 30
        /// The most memory of all answers until they are sent or dropped.
        package var memoryTotal = 512 << 20
        /// The most bytes of all files; one principal alone gets half.
        package var diskTotal = 16 << 30

        /// Creates the defaults.
        package init() {}
    }

    /// `[limits]`: the limits of one request, and of all of them together.
    package struct Limits: Hashable, Sendable {
        /// The memory of the whole process, from which limits that are not set get their shares; zero for no budget.
        package var memory = 0
        /// The most bytes of a sync request's body as received.
        package var body = 32 << 20
        /// The most bytes of a sync request's body after decompression.
        package var inflatedBody = 128 << 20
        /// The memory for all running pushes together, waiting ones included.
        package var pushMemory = 512 << 20
        /// The most bytes of a request's head.
        package var headerBytes = 32 << 10
        /// The most connections of clients.
        package var connections = 4_096
        /// The most tunnels; nil for half of the pass-through's connections, zero for none.
        package var tunnels: Int?
        /// The most tunnels of one address; nil for half of all.
        package var tunnelsPerClient: Int?
        /// The longest time in which no byte of a tunnel moves.
        package var tunnelIdle: Duration = .seconds(600)
        /// The longest time without a byte of a request's body while the gateway waits for it.
        package var bodyTimeout: Duration = .seconds(60)
        /// The least rate of a request's body, in bytes a second; zero for no limit.
        package var bodyRate = 512
        /// The longest time for the whole body of a sync request.
        package var bodyTime: Duration = .seconds(600)
        /// The longest time from an answer to the client's next request on the same connection.
        package var keepAlive: Duration = .seconds(75)
        /// The longest time for which a client is read on behind the last answer on its connection.
        package var linger: Duration = .seconds(30)
        /// The longest time in which a client takes no byte of an answer that waits for it.
        package var sendTimeout: Duration = .seconds(300)
        /// The least rate at which a client takes its answer, in bytes a second; zero for no limit.
        package var sendRate = 0
        /// The greatest nesting depth of JSON from clients and backend.
        package var jsonDepth = 64
        /// The most pulls that run at a time, over all clients.
        package var pulls = 64
        /// The most requests of one client in a minute; zero for no limit.
        package var clientRate = 0
        /// The most of them at once.
        package var clientBurst = 60
        /// The most syncs of one principal in a minute; zero for no limit.
        package var principalRate = 0
        /// The most of them at once.
        package var principalBurst = 30
        /// The most requests that wait for one session's or replica's lock.
        package var queue = 8
        /// The longest time for which each of them waits.
        package var queueWait: Duration = .seconds(30)
        /// The most bytes of finished answers that are kept for repeats.
        package var answersKept = 256 << 20

        /// Creates the defaults.
        package init() {}
    }

    /// `[log]`: the log on standard error.
    package struct Log: Hashable, Sendable {
        /// The least important level that is written.
        package var level = LogLevel.info
        /// The form of a line.
        package var format = LogFormat.text

        /// Creates the defaults.
        package init() {}
    }

    /// `[admin]`: the operator's listener.
    package struct Admin: Hashable, Sendable {
        /// The address on which `/livez` and `/readyz` answer apart from the sync listener; nil for only there.
        package var listen: ListenAddress?
        /// The number of times that a device comes with the same cursor, or again without one, until it counts as
        /// stuck; 0 for never.
        package var stuckRepeats = 5
        /// The number of its pushes in a row that fail until it counts as stuck; 0 for never.
        package var stuckPushes = 5
        /// The time for which its pulls or pushes fail until it counts as stuck; zero for never.
        package var stuckAfter: Duration = .seconds(86_400)

        /// Creates the defaults.
        package init() {}
    }
}
