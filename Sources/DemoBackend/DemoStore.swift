// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The database and the functions that its triggers call.
///
/// There is one serial connection: writes are in commit order, and the database holds nothing between two queries.
struct DemoStore: Sendable {
    let queue: DatabaseQueue
    let clock: DemoClock
    let ids: UpdateIDs

    init(configuration: DemoConfiguration, clock: DemoClock) throws {
        let ids = UpdateIDs(order: configuration.order, clock: clock)
        var settings = Configuration()
        let flags: Set<String> = Set(
            [
                configuration.announcesMoves ? "announcesMoves" : nil,
                configuration.announcesNotes ? "announcesNotes" : nil,
                configuration.touchesProjects ? "touchesProjects" : nil,
            ].compactMap(\.self))
        settings.prepareDatabase { db in
            db.add(function: DatabaseFunction("demo_uuid7", argumentCount: 0) { _ in ids.next() })
            db.add(function: DatabaseFunction("demo_now", argumentCount: 0) { _ in clock.now })
            db.add(
                function: DatabaseFunction("demo_flag", argumentCount: 1) { arguments in
                    String.fromDatabaseValue(arguments[0]).map(flags.contains)
                })
        }
        self.clock = clock
        self.ids = ids
        if let file = configuration.file {
            settings.journalMode = .wal
            // The last connection of a backend before this one locks the file for a moment while it closes.
            settings.busyMode = .timeout(5)
            queue = try DatabaseQueue(path: file, configuration: settings)
        } else {
            queue = try DatabaseQueue(configuration: settings)
        }
        try queue.write { db in
            try db.execute(sql: Schema.sql)
            for account in configuration.accounts { try Accounts.ensure(account, at: clock.now, in: db) }
            if let newest = try Self.newestID(in: db) { ids.resume(after: newest) }
        }
    }

    /// Runs a transaction.
    func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await queue.write(body)
    }

    /// Forgets data that is older than the backend promises to remember: deletions after 31 days, sessions 90 days
    /// after their last use, answers of pushes after a day.
    static func prune(at now: Int64, in db: Database) throws {
        let limit = UpdateIDs.uuid(milliseconds: now - DemoClock.days(31), tail: 0)
        for table in auditTables + ["id_maps"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE id < ?", arguments: [limit])
        }
        try db.execute(sql: "DELETE FROM sessions WHERE used_at < ?", arguments: [now - DemoClock.days(90)])
        try db.execute(sql: "DELETE FROM answers WHERE made_at < ?", arguments: [now - DemoClock.days(1)])
    }

    /// The tables that keep deletions.
    static let auditTables = Entity.all.map(\.audit.table) + ["task_share_audit"]

    private static func newestID(in db: Database) throws -> String? {
        let changes = Entity.all.map { "SELECT MAX(update_id) AS id FROM \($0.name)" }
        let others = (auditTables + ["id_maps"]).map { "SELECT MAX(id) AS id FROM \($0)" }
        let all = (changes + others).joined(separator: " UNION ALL ")
        return try String.fetchOne(db, sql: "SELECT MAX(id) FROM (\(all))")
    }
}
