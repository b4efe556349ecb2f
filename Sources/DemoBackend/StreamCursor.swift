// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The position of a stream: a value that is carried from query to query, so that nothing is held in between.
///
/// Each kind of line has a query of its own, and all queries are bounded by one id taken at the beginning. A change
/// made in the meantime is in no line of this stream: it has a newer id, so the next stream brings it.
struct StreamCursor: Sendable {
    enum Step: Sendable {
        case retired(String)
        case deletes(StreamType, StreamType.Deletes)
        case backfill(StreamType, StreamType.Backfill)
        case rows(StreamType.Backfill, BackfillParent, StreamType)
        case upserts(StreamType)
        case idMaps
        case bulk(next: Int)
        case complete
    }

    struct BackfillParent: Sendable {
        let parent: String
        let createID: String
        /// The id at which to go on within this parent, inclusive; empty begins at its first row.
        let from: String
        let end: String
    }

    let caller: Accounts.Caller
    let usesSession: Bool
    let configuration: DemoConfiguration
    let retirement: DemoRetirement
    private(set) var bound = ""
    private var checkpoints: [String: String] = [:]
    private var steps: [Step] = []
    private var after = ""
    private var lines = StreamLines()

    init(
        _ request: StreamRequest, caller: Accounts.Caller, configuration: DemoConfiguration, retirement: DemoRetirement
    ) {
        self.caller = caller
        self.configuration = configuration
        self.retirement = retirement
        usesSession = request.checkpoints == nil
        checkpoints = request.checkpoints ?? [:]
    }

    /// The step whose query comes next; nil at the end of the stream.
    var step: Step? { steps.first }

    /// True if the next query is the first of its step.
    var isAtStepStart: Bool {
        if case .bulk(let next) = steps.first, next > 0 { return false }
        return after.isEmpty
    }

    /// Removes and returns the lines that were made since the last call.
    mutating func takeLines() -> StreamLines {
        defer { lines = StreamLines() }
        return lines
    }

    /// Begins the stream: decides whether it has lines or only a reset line.
    mutating func begin(_ request: StreamRequest, at now: Int64, ids: UpdateIDs, in db: Database) throws {
        let session = caller.sessionID
        if request.reset { try Checkpoints.clear(session, in: db) }
        let pending = try Bool.fetchOne(
            db, sql: "SELECT is_pending_reset FROM sessions WHERE id = ?", arguments: [session])
        if pending == true { return appendReset() }
        if usesSession { checkpoints = try Checkpoints.all(of: session, in: db) }
        bound = ids.bound()
        if let complete = try position(Checkpoints.complete), let milliseconds = UpdateIDs.milliseconds(of: complete) {
            let newest = max(now, UpdateIDs.milliseconds(of: bound) ?? now)
            // Its model takes tokens of a database that was lost.
            let isAhead = configuration.order == .commit && milliseconds > newest
            if isAhead || milliseconds < now - DemoClock.days(30) { return appendReset() }
        }
        let hasIDMaps = !request.types.isDisjoint(with: IDMaps.requests)
        if hasIDMaps, configuration.idMaps == .first { steps.append(.idMaps) }
        for type in StreamType.all where request.types.contains(type.request) {
            if retirement.types.contains(type.request) { steps.append(.retired(type.request)) }
            var deletes = type.deletes.map { [Step.deletes(type, $0)] } ?? []
            if let clears = type.clears, configuration.clearsComments { deletes.append(.deletes(type, clears)) }
            if !configuration.sendsDeletesLast { steps += deletes }
            if let backfill = type.backfill { steps.append(.backfill(type, backfill)) }
            steps.append(.upserts(type))
            if configuration.sendsDeletesLast { steps += deletes }
        }
        if hasIDMaps, configuration.idMaps == .last { steps.append(.idMaps) }
        if request.types.contains(BulkRows.request) {
            steps.append(.bulk(next: try BulkRows.next(after: position(BulkRows.lineType))))
        }
        steps.append(.complete)
    }

    /// Runs one query of the present step, which may end with it.
    mutating func advance(in db: Database) throws {
        switch steps[0] {
        case .retired(let type): throw DemoRetirement.refusal(of: type)
        case .deletes(_, let deletes): try advance(deletes, in: db)
        case .backfill(let type, let backfill): try advance(backfill, of: type, in: db)
        case .rows(let backfill, let parent, let type): try advance(backfill, parent, of: type, in: db)
        case .upserts(let type): try advance(upsertsOf: type, in: db)
        case .idMaps: try advanceIDMaps(in: db)
        case .bulk(let next):
            let rows = BulkRows.chunk(from: next, of: configuration.bulkRows)
            lines.append(BulkRows.lines(rows))
            steps[0] = .bulk(next: rows.upperBound)
            if rows.upperBound >= configuration.bulkRows { finishStep() }
        case .complete:
            lines.append(type: Checkpoints.complete, data: [], ack: "\(Checkpoints.complete)|\(bound)")
            finishStep()
        }
    }

    private mutating func appendReset() {
        lines.append(type: Checkpoints.reset, data: [], ack: "\(Checkpoints.reset)|reset")
    }

    private mutating func finishStep() {
        steps.removeFirst()
        after = ""
    }

    /// Returns the id in the checkpoint of a namespace; a malformed id fails as it would in a database's column type.
    private func position(_ namespace: String) throws -> String? {
        guard let token = checkpoints[namespace] else { return nil }
        let parts = token.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count > 1, UpdateIDs.isUUID(parts[1]) else {
            throw DemoError.internal("invalid input syntax for type uuid in \(namespace)")
        }
        return String(parts[1])
    }
}

extension StreamCursor {
    private mutating func advance(_ deletes: StreamType.Deletes, in db: Database) throws {
        let start = try after.isEmpty ? position(deletes.lineType) ?? "" : after
        let rows = try fetch(deletes.sql, after: start, in: db)
        for row in rows {
            lines.append(
                type: deletes.lineType, data: deletes.members.map { ($0.name, DemoValue(key: row[$0.column])) },
                ack: "\(deletes.lineType)|\(row["update_id"] as String)")
        }
        finishPage(rows)
    }

    private mutating func advance(upsertsOf type: StreamType, in db: Database) throws {
        let start = try after.isEmpty ? position(type.upsert) ?? "" : after
        let rows = try fetch(type.sql, after: start, in: db)
        for row in rows {
            lines.append(type: type.upsert, data: type.render(row), ack: "\(type.upsert)|\(row["update_id"] as String)")
        }
        finishPage(rows)
    }

    private mutating func advanceIDMaps(in db: Database) throws {
        let start = try after.isEmpty ? position(IDMaps.lineType) ?? "" : after
        let rows = try fetch(IDMaps.sql, after: start, in: db)
        for row in rows {
            lines.append(
                type: IDMaps.lineType, data: IDMaps.members(of: row),
                ack: "\(IDMaps.lineType)|\(row["update_id"] as String)")
        }
        finishPage(rows)
    }

    /// Puts the memberships since the last backfill before the other steps.
    ///
    /// Without a checkpoint of the rows themselves, all rows come as ordinary lines, and only the position is noted.
    private mutating func advance(_ backfill: StreamType.Backfill, of type: StreamType, in db: Database) throws {
        let resume = checkpoints[backfill.lineType]?
            .split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let start = try position(backfill.lineType) ?? ""
        let parents = try fetch(backfill.parents, after: start, in: db)
        finishStep()
        guard let end = try position(type.upsert) else {
            if let last = parents.last {
                try note("\(backfill.lineType)|\(last["create_id"] as String)|complete", in: db)
            }
            return
        }
        var inserted: [Step] = []
        for row in parents {
            let createID: String = row["create_id"]
            let extra = createID == start ? resume?.dropFirst(2).first ?? "" : ""
            if extra == "complete" { continue }
            let parent = BackfillParent(parent: row["parent"], createID: createID, from: extra, end: end)
            inserted.append(.rows(backfill, parent, type))
        }
        steps.insert(contentsOf: inserted, at: 0)
    }

    private mutating func advance(
        _ backfill: StreamType.Backfill, _ parent: BackfillParent, of type: StreamType, in db: Database
    ) throws {
        let rows = try fetch(
            backfill.rows, after: after,
            further: ["parent": parent.parent, "from": parent.from, "end": parent.end], in: db)
        let token = "\(backfill.lineType)|\(parent.createID)|"
        for row in rows {
            lines.append(type: backfill.lineType, data: type.render(row), ack: token + (row["update_id"] as String))
        }
        if rows.count < configuration.pageSize {
            lines.append(type: "SyncAckV1", data: [], ack: token + "complete")
        }
        finishPage(rows)
    }

    /// Notes a position that the backend reaches by itself: stores it in the session's checkpoint, or sends it to a
    /// client that keeps its checkpoints itself.
    private mutating func note(_ token: String, in db: Database) throws {
        let namespace = String(token.prefix { $0 != "|" })
        if usesSession {
            try Checkpoints.set(token, type: namespace, of: caller.sessionID, in: db)
        } else {
            lines.append(type: "SyncAckV1", data: [], ack: token)
        }
    }

    private mutating func finishPage(_ rows: [Row]) {
        if rows.count < configuration.pageSize { finishStep() } else { after = rows[rows.count - 1]["update_id"] }
    }

    private func fetch(
        _ sql: String, after: String, further: [String: String] = [:], in db: Database
    ) throws -> [Row] {
        let statement = try db.cachedStatement(sql: sql)
        var arguments: [String: (any DatabaseValueConvertible)?] = further
        arguments["user"] = caller.userID
        arguments["now"] = bound
        arguments["after"] = after
        arguments["limit"] = configuration.pageSize
        let named = arguments.filter { sql.contains(":\($0.key)") }
        return try Row.fetchAll(statement, arguments: StatementArguments(named))
    }
}
