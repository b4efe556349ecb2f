// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import NIOConcurrencyHelpers
import Postgres
import PostgresTesting
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ConnectingTests {
    @Test(arguments: ["password=wrong", "", "dbname=missing password='only for tests'"])
    func `a refused user, password or database is reported without waiting`(words: String) async throws {
        let server = try await PostgresServer.shared()
        // The password file of whoever runs the tests has no say.
        try await PostgresPool.with(server.conninfo("passfile=/nonexistent \(words)", user: "secret")) { pool in
            let error = await postgresError { try await Self.use(pool) }
            guard case .authentication(let text) = error else { throw IssueError(error) }
            #expect(!text.contains("wrong") && !text.contains("only for tests"))
        }
    }

    @Test func `the password may stand in the connection string or in a password file`() async throws {
        let server = try await PostgresServer.shared()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("rind-passwords-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let line = Data("127.0.0.1:*:*:secret:only for tests\n".utf8)
        let isWritten = FileManager.default.createFile(
            atPath: file, contents: line, attributes: [.posixPermissions: 0o600])
        try #require(isWritten)
        for words in ["password='only for tests'", "passfile=\(file)"] {
            try await PostgresPool.with(server.conninfo(words, user: "secret")) { try await Self.use($0) }
        }
    }

    @Test func `a server with no connection to spare is named as such`() async throws {
        try await PostgresPool.withShared(user: "single") { first in
            try await Self.use(first)
            try await PostgresPool.withShared(user: "single") { second in
                let error = await postgresError { try await Self.use(second, within: .seconds(3)) }
                guard case .tooManyConnections = error else { throw IssueError(error) }
            }
        }
    }

    @Test func `a server that is not there is unreachable when the limit has passed`() async throws {
        let port = try PostgresServer.freePort()
        try await PostgresPool.with("host=127.0.0.1 port=\(port)") { pool in
            let error = await postgresError { try await Self.use(pool, within: .seconds(3)) }
            guard case .unreachable(let text) = error else { throw IssueError(error) }
            #expect(text.contains("refused"))
        }
    }

    @Test func `of several hosts one that answers is taken`() async throws {
        let server = try await PostgresServer.shared()
        let ports = "\(try PostgresServer.freePort()),\(server.port)"
        let conninfo = "host=127.0.0.1,127.0.0.1 port=\(ports) user=postgres dbname=postgres"
        try await PostgresPool.with(conninfo) { try await Self.use($0) }
    }

    @Test func `a server that takes no writes is passed over if they are asked for`() async throws {
        try await PostgresPool.withShared("target_session_attrs=read-write") { try await Self.use($0) }
        try await PostgresPool.withShared("target_session_attrs=read-write", user: "reader") { pool in
            let error = await postgresError { try await Self.use(pool, within: .milliseconds(500)) }
            guard case .unreachable = error else { throw IssueError(error) }
        }
    }

    @Test func `a connection may be encrypted, and its server checked`() async throws {
        let server = try await PostgresServer.shared()
        let certificate = "sslrootcert=\(server.directory)/server.crt"
        for words in ["sslmode=require", "sslmode=verify-full host=localhost hostaddr=127.0.0.1 \(certificate)"] {
            try await PostgresPool.withShared(words, user: "encrypted") { pool in
                let rows = try await pool.query(
                    "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", .readOnly, within: ample
                ).rows
                #expect(try rows.first?.bool(0) == true)
            }
        }
    }

    @Test(arguments: ["sslrootcert=SERVER", "host=localhost hostaddr=127.0.0.1 sslrootcert=OTHER"])
    func `a server whose certificate does not fit is not used`(words: String) async throws {
        let server = try await PostgresServer.shared()
        // The certificate is for the name, not for the address; and a file without certificates trusts none.
        let words = words.replacing("SERVER", with: "\(server.directory)/server.crt")
            .replacing("OTHER", with: "\(server.directory)/missing.crt")
        try await PostgresPool.withShared("sslmode=verify-full \(words)") { pool in
            let error = await postgresError { try await Self.use(pool, within: .milliseconds(500)) }
            guard case .unreachable = error else { throw IssueError(error) }
        }
    }

    @Test func `a user that must use TLS is refused without`() async throws {
        try await PostgresPool.withShared(user: "encrypted") { pool in
            let error = await postgresError { try await Self.use(pool) }
            guard case .authentication = error else { throw IssueError(error) }
        }
    }

    @Test func `notices of the server go to the log, without anything that could harm it`() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in CollectingHandler(lines: lines) }
        let server = try await PostgresServer.shared()
        let pool = try PostgresPool.start(PostgresSettings(conninfo: server.conninfo()), logger: logger)
        _ = try await pool.query("DO $$ BEGIN RAISE NOTICE E'careful\\x1b[2J'; END $$", .readOnly, within: ample)
        await pool.shutdown()
        let written = lines.withLockedValue { $0.joined() }
        #expect(written.contains("careful\\u{1b}[2J"))
    }

    private static func use(_ pool: PostgresPool, within limit: Duration = ample) async throws {
        let rows = try await pool.query("SELECT 1", .readOnly, within: limit).rows
        #expect(rows.count == 1)
    }
}

/// Keeps what is logged.
private struct CollectingHandler: LogHandler {
    let lines: NIOLockedValueBox<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.withLockedValue { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
}

struct ConnectionInfoTests {
    @Test(arguments: [
        "host=db user=rind password=hidden dbname=state", "postgres://rind:hidden@db/state?sslpassword=hidden",
    ])
    func `a description names the server and hides the password`(conninfo: String) throws {
        #expect("\(try ConnectionInfo(conninfo))" == "host=db dbname=state user=rind")
    }

    @Test(arguments: ["host='unclosed hidden", "hidden", "nonsense=hidden", "postgres://rind:hi dden@[::", "host=a\0b"])
    func `a string that cannot be understood is not quoted`(conninfo: String) {
        let error = #expect(throws: PostgresError.invalidSettings) { try ConnectionInfo(conninfo) }
        #expect(error.map { "\($0)".contains("hidden") } == false)
    }
}
