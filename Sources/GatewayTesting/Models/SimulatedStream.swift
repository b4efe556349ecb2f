// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One answer of the simulated backend's stream, made query by query: a write between two of them is seen by the
/// later one only.
struct SimulatedStream {
    /// The content of a line.
    enum Content {
        /// No record: the line only moves a checkpoint.
        case acknowledgement
        case row(SimulatedKey, SimulatedRecord, SimulatedBackend.Damage)
        case deletion(id: String)
        /// Every file of an owner is gone from one feed.
        case purge(owner: String)
    }

    struct Line {
        var type: String
        var content: Content
        var token: String
    }

    /// The next part of the stream.
    enum Item {
        /// The next query runs now.
        case query
        case line(Line)
        case reset
        case complete(token: String)
    }

    private enum Phase {
        case deletes(String)
        case upserts(String, SimulatedTable)
        case memberships(SimulatedTable)
        case backfill(SimulatedTable, project: String, grant: Int, from: Int)
        case granted(SimulatedTable, Int)
    }

    private let session: String?
    private let checkpoints: [String: String]
    private let now: Int
    private let completeToken: String
    private let isReset: Bool
    private var phases: [Phase] = []
    private var lines: ArraySlice<Line> = []
    /// The records that changed between the stream's beginning and their query: it has no line of them.
    private(set) var overtaken: Set<SimulatedKey> = []

    /// Opens a stream at the session's checkpoints, or at those that the request carries.
    init(
        _ backend: inout SimulatedBackend, types: [String], session: String?, carried: [String: String]
    ) {
        self.session = session
        if let session {
            if backend.sessions[session] == nil { backend.sessions[session] = SimulatedBackend.SessionState() }
            checkpoints = backend.checkpoints(session: session)
        } else {
            checkpoints = carried
        }
        let parts = checkpoints[SimulatedSchema.complete]?.split(separator: "|") ?? []
        let lastDay = parts.count == 3 ? Int(parts[2]) : nil
        let isPending = session.flatMap { backend.sessions[$0]?.isResetPending } ?? false
        isReset = isPending || (lastDay ?? backend.day) < backend.day - 30
        now = backend.tick()
        completeToken = "\(SimulatedSchema.complete)|\(now)|\(backend.day)"
        for type in types { phases += Self.phases(of: type) }
    }

    private static func phases(of type: String) -> [Phase] {
        switch type {
        case "ProjectsV1": [.deletes("ProjectDeleteV1"), .upserts("ProjectV1", .projects)]
        case "ProjectsV2": [.deletes("ProjectDeleteV1"), .upserts("ProjectV2", .projects)]
        case "TasksV1": [.deletes("TaskDeleteV1"), .memberships(.tasks), .upserts("TaskV1", .tasks)]
        case "CommentsV1":
            [.deletes("CommentDeleteV1"), .memberships(.comments), .upserts("CommentV1", .comments)]
        case "FoldersV1": [.deletes("FolderDeleteV1"), .upserts("FolderV1", .folders)]
        case "FilesV1": [.deletes("FileDeleteV1"), .upserts("FileV1", .files)]
        case "PartnerFilesV1":
            [
                .deletes("PartnerFileDeleteV1"), .deletes(SimulatedSchema.filePurge),
                .upserts("PartnerFileV1", .files),
            ]
        case "NotesV1": [.deletes("NoteDeleteV1"), .upserts("NoteV1", .notes)]
        default: []
        }
    }

    mutating func next(_ backend: inout SimulatedBackend) -> Item {
        if isReset { return .reset }
        if let line = lines.popFirst() { return .line(line) }
        guard !phases.isEmpty else { return .complete(token: completeToken) }
        run(phases.removeFirst(), &backend)
        return .query
    }

    /// Returns true if the stream has only changes of a namespace.
    func resumes(_ namespace: String) -> Bool { checkpoints[namespace] != nil }

    private func number(_ namespace: String) -> Int? {
        guard let token = checkpoints[namespace] else { return nil }
        let parts = token.split(separator: "|")
        return parts.count > 1 ? Int(parts[1]) : nil
    }

    private mutating func run(_ phase: Phase, _ backend: inout SimulatedBackend) {
        switch phase {
        case .deletes(let namespace):
            let after = number(namespace) ?? 0
            let found = backend.audits.filter { audit in
                audit.namespace == namespace && after < audit.number && audit.number < now
                    && (audit.project.isEmpty || backend.members[audit.project] != nil)
            }
            lines =
                found.map { audit in
                    Line(
                        type: namespace,
                        content: namespace == SimulatedSchema.filePurge
                            ? .purge(owner: audit.key.id) : .deletion(id: audit.id),
                        token: "\(namespace)|\(audit.number)")
                }[...]
        case .upserts(let namespace, let table): lines = upserts(namespace, of: table, in: backend)[...]
        case .memberships(let table): memberships(table, &backend)
        case .backfill(let table, let project, let grant, let from):
            let names = SimulatedSchema.backfill(table)
            let newest = number(names.upsert) ?? 0
            let found = backend.rows.filter { (key, row) in
                key.table == table && backend.project(of: key) == project && from <= row.update && row.update <= newest
            }
            lines =
                found.sorted { ($0.value.update, $0.key) < ($1.value.update, $1.key) }.map { key, row in
                    Line(
                        type: names.backfill, content: .row(key, row.record, row.damage),
                        token: "\(names.backfill)|\(grant)|\(row.update)")
                }[...]
        case .granted(let table, let grant):
            lines = [
                Line(
                    type: "SyncAckV1", content: .acknowledgement,
                    token: "\(SimulatedSchema.backfill(table).backfill)|\(grant)|complete")
            ]
        }
    }

    private mutating func upserts(
        _ namespace: String, of table: SimulatedTable, in backend: SimulatedBackend
    ) -> [Line] {
        let after = number(namespace) ?? 0
        var found: [(update: Int, line: Line)] = []
        for (key, row) in backend.rows where key.table == table && backend.isVisible(key) {
            guard let update = table == .files ? row.feeds[namespace] : row.update, after < update else { continue }
            guard update < now else {
                overtaken.insert(key)
                continue
            }
            let content = Content.row(key, row.record, row.damage)
            found.append((update, Line(type: namespace, content: content, token: "\(namespace)|\(update)")))
        }
        return found.sorted { $0.update < $1.update }.map(\.line)
    }

    /// Streams the rows of granted projects that are older than the checkpoint; in a first stream all rows come as
    /// plain upserts, and the backend notes by itself that no backfill is needed (finding 6).
    private mutating func memberships(_ table: SimulatedTable, _ backend: inout SimulatedBackend) {
        let names = SimulatedSchema.backfill(table)
        let parts = checkpoints[names.backfill]?.split(separator: "|") ?? []
        let last = parts.count == 3 ? Int(parts[1]) ?? -1 : -1
        let grants = backend.members.filter { $0.value < now && $0.value >= last }
            .sorted { $0.value < $1.value }
        guard number(names.upsert) != nil else {
            if let session, let newest = grants.last {
                backend.sessions[session]?.checkpoints[names.backfill] = "\(names.backfill)|\(newest.value)|complete"
            }
            return
        }
        var inserted: [Phase] = []
        for (project, grant) in grants {
            let resumed = grant == last ? Int(parts[2]) : nil
            if grant == last, resumed == nil { continue }
            inserted.append(.backfill(table, project: project, grant: grant, from: resumed ?? 0))
            inserted.append(.granted(table, grant))
        }
        phases.insert(contentsOf: inserted, at: 0)
    }
}
