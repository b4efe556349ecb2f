// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Logging
import NIOConcurrencyHelpers
import Postgres
import PostgresTesting
import StateProbes
import StateStore
import SyncModel
import Testing

@testable import PostgresState

/// What callers are told when PostgreSQL fails, and what has happened then.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresOutageTests {
    private func error(_ body: () async throws -> Void) async throws -> StateError? {
        do {
            try await body()
            return nil
        } catch let error as StateError {
            return error
        }
    }

    /// Opens a store through a proxy.
    private func withProxy(_ body: (Accounts, ServerProxy) async throws -> Void) async throws {
        let server = try await PostgresServer.shared()
        try await ServerProxy.with(to: server.port) { proxy in
            var options = try await postgresOptions { $0.connections.maximumConnections = 1 }
            // Without the proxy: it knows a COMMIT only as long as that is not prepared.
            try await withPostgres(options) { _ in }
            options.connections.conninfo = server.conninfo(port: proxy.port)
            try await withPostgres(options) { try await body($0, proxy) }
        }
    }

    @Test func `a connection that is lost before its COMMIT arrives is replaced, and nothing was written`() async throws
    {
        try await withProxy { store, proxy in
            let connections = proxy.state.withLockedValue(\.connections)
            proxy.state.withLockedValue { $0.loss = .before }
            let error = try await error { try await store.raiseGeneration() }
            proxy.state.withLockedValue { $0.loss = nil }
            // The statements and the COMMIT are one message: from here it is unknown which of them have arrived.
            #expect(error == .outcomeUnknown)
            #expect(try await store.context().session.generation == 0)
            #expect(try await store.raiseGeneration() == 1)
            #expect(proxy.state.withLockedValue(\.connections) > connections)
        }
    }

    @Test func `a COMMIT whose answer is lost is reported as such, and may have taken place`() async throws {
        try await withProxy { store, proxy in
            try await store.begin(row(1_000))
            proxy.state.withLockedValue { $0.loss = .after }
            let error = try await error { try await store.proceed(row(1_001, parent: 1_000)) }
            proxy.state.withLockedValue { $0.loss = nil }
            #expect(error == .outcomeUnknown)
            #expect(error?.isTransient == true)
            #expect(try await store.context(1_000).row?.isConfirmed == true)
        }
    }

    @Test func `a role that may only read is told so`() async throws {
        let options = try await postgresOptions()
        try await withPostgres(options) { try await $0.begin(row(1_000)) }
        let server = try await PostgresServer.shared()
        let role = "reader_\(options.schema)"
        _ = try await server.query("CREATE ROLE \(role) LOGIN")
        var reader = options
        reader.connections.conninfo = server.conninfo(user: role)
        let unopened = try await error {
            try await PostgresStateStore.openShared(reader, logger: Logger(label: "test")).close()
        }
        guard case .open(_, let reason) = unopened else {
            Issue.record("\(String(describing: unopened))")
            return
        }
        #expect(reason.contains("USAGE"))
        _ = try await server.query(
            """
            GRANT USAGE ON SCHEMA \(options.schema) TO \(role);
            GRANT SELECT ON ALL TABLES IN SCHEMA \(options.schema) TO \(role);
            CREATE TABLE \(options.schema).somebodys (key text)
            """)
        let store = try await PostgresStateStore.openShared(reader, logger: Logger(label: "test"))
        #expect(try await store.context(1_000).row != nil)
        let refused = try await error { try await store.begin(row(2_000, replica: 2)) }
        #expect(refused == .readOnly("permission denied for table principal"))
        // A gateway would find out with the first sync, and says so when it starts.
        let lacking = try await error { try await withPostgres(reader) { _ in } }
        guard case .readOnly(let rights) = lacking else {
            Issue.record("\(String(describing: lacking))")
            return
        }
        #expect(rights.contains("INSERT on chunk, UPDATE on chunk") && rights.contains("USAGE on lease_fence"))
        #expect(!rights.contains("somebody"), "another program's table")
        var other = reader
        other.schema = "other_\(options.schema)"
        let unmade = try await error { try await withPostgres(other) { _ in } }
        #expect(unmade == .readOnly("its role lacks the right CREATE on the database"))
        // What is taken away may come back.
        _ = try await server.query("REVOKE USAGE ON SCHEMA \(options.schema) FROM \(role)")
        let revoked = try await error { _ = try await store.context(1_000) }
        #expect(revoked?.isTransient == true && revoked?.description.contains("USAGE") == true)
        _ = try await server.query("GRANT USAGE ON SCHEMA \(options.schema) TO \(role)")
        #expect(try await store.context(1_000).row != nil)
        await store.close()
        _ = try await server.query("DROP OWNED BY \(role); DROP ROLE \(role)")
    }

    @Test func `a server that takes no writes is a standby, whose reads go on`() async throws {
        let options = try await postgresOptions()
        try await withPostgres(options) { try await $0.begin(row(1_000)) }
        var reader = options
        reader.connections.conninfo = try await PostgresServer.shared().conninfo(user: "reader")
        try await withPostgres(reader) { store in
            #expect(try await store.context(1_000).row != nil)
            let found = try await error { try await store.begin(row(1_001, replica: 2)) }
            #expect(found == .standby)
            let found2 = try await error { try await store.checkWriting(within: .seconds(10)) }
            #expect(found2 == .standby)
        }
    }

    @Test func `a database that cannot be reached is reported once, without the password`() async throws {
        let events = NIOLockedValueBox<[StateEvent]>([])
        let error = try await error {
            let options = try await postgresOptions {
                $0.connections.conninfo = "postgresql://rind:hidden@127.0.0.1:1/rind"
                $0.timeout = .milliseconds(300)
                $0.report = { event in events.withLockedValue { $0.append(event) } }
            }
            try await withPostgres(options) { _ in }
        }
        guard case .unreachable(let reason) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(!reason.contains("hidden"))
        #expect(error?.isTransient == true)
    }

    @Test func `a lock that another transaction holds makes a write wait, and then fail as busy`() async throws {
        let options = try await postgresOptions { $0.connections.lockTimeout = .milliseconds(200) }
        try await withPostgres(options) { store in
            try await store.begin(row(1_000))
            var settings = options.connections
            settings.schema = options.schema
            let pool = try PostgresPool.start(settings, logger: Logger(label: "test"))
            try await pool.withTransaction(.readWrite, within: .seconds(60)) { transaction in
                _ = try await transaction.query("SELECT 1 FROM principal FOR UPDATE")
                let error = try await error { try await store.begin(row(1_001, replica: 2)) }
                #expect(error == .busy)
            }
            await pool.shutdown()
            try await store.begin(row(1_001, replica: 2))
        }
    }
}
