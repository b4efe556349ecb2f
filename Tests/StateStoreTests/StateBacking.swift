// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import Logging
import MemoryState
import Postgres
import PostgresState
import PostgresTesting
import SQLiteState
import StateStore
import SyncModel
import Testing

/// A kind of store that the conformance suites run over.
struct StateBacking: Sendable {
    let testDescription: String
    /// Makes an empty store with these limits and passes it to the body.
    let withStore: @Sendable (StateLimits, @Sendable (Accounts) async throws -> Void) async throws -> Void

    static let all: [StateBacking] =
        [
            StateBacking(testDescription: "SQLite") { limits, body in
                try await withSQLite(options: .with { $0.limits = limits }) { store in
                    try await body(store)
                    try await store.check(thoroughly: true)
                }
            },
            StateBacking(testDescription: "memory") { limits, body in try await body(Accounts(limits: limits)) },
            StateBacking(testDescription: "memory, with no room in heads") { limits, body in
                var limits = limits
                (limits.headBytes, limits.headChunks) = (1, 1)
                try await body(Accounts(limits: limits))
            },
        ] + (PostgresServer.isInstalled ? [postgres] : [])
        + (PostgresServer.isInstalled && Bouncer.isInstalled ? [pooled] : [])

    /// Stores of bytes that nothing has been written to, not even that they were opened.
    static let bytes: [StateBacking] =
        [
            StateBacking(testDescription: "memory") { _, body in try await body(Accounts(MemoryBytes())) },
            StateBacking(testDescription: "SQLite") { _, body in
                try await withStateFile { try await closing(Accounts(SQLiteBytes.open(path: $0)), body) }
            },
        ] + (PostgresServer.isInstalled ? [postgresBytes] : [])

    /// Those that several gateways may share.
    static let shared = all.filter { !$0.testDescription.contains("SQLite") }

    /// The pgbouncer of Debian 12 cannot keep prepared statements.
    private static let pooled = StateBacking(testDescription: "PostgreSQL behind pgbouncer") { limits, body in
        let server = try await PostgresServer.shared()
        try await Bouncer.with(server, connections: 2) { bouncer in
            let options = try await postgresOptions {
                $0.limits = limits
                $0.connections.conninfo = server.conninfo(port: bouncer.port)
                $0.connections.preparesStatements = false
            }
            try await withPostgres(options) { try await body($0) }
        }
    }

    private static let postgresBytes = StateBacking(testDescription: "PostgreSQL") { _, body in
        let options = try await postgresOptions()
        let bytes = try await PostgresStateStore.openBytes(options, creates: true, logger: Logger(label: "test"))
        try await closing(Accounts(bytes), body)
    }

    private static let postgres = StateBacking(testDescription: "PostgreSQL") { limits, body in
        try await withPostgres(try await postgresOptions { $0.limits = limits }) { try await body($0) }
    }
}

extension StateLimits {
    /// Limits with some changes.
    static func with(_ change: (inout Self) -> Void) -> Self {
        var limits = Self()
        change(&limits)
        return limits
    }
}

extension Accounts {
    /// A state in memory.
    convenience init(limits: StateLimits = StateLimits()) {
        let bytes = MemoryBytes()
        self.init(bytes, limits: limits, leases: bytes)
    }

    convenience init(
        _ bytes: any ByteStore, limits: StateLimits = StateLimits(), epoch: Int64 = 0,
        leases: (any LeaseKeeping)? = nil
    ) {
        let setting = AccountSetting(limits: limits, epoch: epoch, number: TimedNumbers().next)
        self.init(bytes, setting: setting, leases: leases)
    }
}

/// Closes a store after the body, whatever happens.
func closing<R>(_ store: Accounts, _ body: (Accounts) async throws -> R) async throws -> R {
    let result: Result<R, any Error>
    do { result = .success(try await body(store)) } catch { result = .failure(error) }
    await store.close()
    return try result.get()
}

/// A directory that is gone afterwards.
func withTemporaryDirectory<R>(_ body: (String) async throws -> R) async throws -> R {
    let url = FileManager.default.temporaryDirectory.appending(path: "rind-state-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url.resolvingSymlinksInPath().path)
}

let alice = Principal(rawValue: "a11ce")
let bob = Principal(rawValue: "b0b")
let phone = Session(rawValue: "f0")
let tablet = Session(rawValue: "7a")
let now: Instant = 1_800_000_000_000

func cursor(_ value: Int64) throws -> Cursor { try #require(Cursor(rawValue: value)) }

/// A row with defaults for what a test does not care about.
func row(
    _ value: Int64, of principal: Principal = alice, replica: Int64 = 1, parent: Int64? = nil,
    vector: [String: String] = ["AlbumV1": "AlbumV1|1"], session: Session = phone, generation: Int = 0,
    schemaVersion: Int? = nil
) throws -> CursorRow {
    CursorRow(
        principal: principal, cursor: try cursor(value), replica: ReplicaID(rawValue: replica),
        parent: try parent.map(cursor), vector: CheckpointVector(vector), schemaVersion: schemaVersion,
        session: session, generation: generation, mappingDigest: "m1")
}
