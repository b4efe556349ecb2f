// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

/// A pull that is played by hand: send an event, expect an action.
struct PullPlaybook {
    static let principal = Principal(rawValue: "a11ce")
    static let session = Session(rawValue: "5e55")
    static let replica = ReplicaID(rawValue: 7)
    static let newReplica = ReplicaID(rawValue: 8)
    static let digest = "mapping"
    /// What a client of schema version 1 asks for.
    static let types = ["AlbumsV1", "LinksV1"]
    /// Where a device in sync stands: every upsert namespace is there, so the backend writes nothing by itself.
    static let vector = CheckpointVector([
        "AlbumV1": "AlbumV1|5", "LinkV1": "LinkV1|5", "LinkBackfillV1": "LinkBackfillV1|2|complete",
        "SyncCompleteV1": "SyncCompleteV1|9",
    ])

    static let schema: Schema = {
        var albums = Table(name: "albums")
        albums.feeds = [
            Table.Feed(versions: [.init(requestType: "AlbumsV1"), .init(requestType: "AlbumsV2", since: 2)])
        ]
        albums.upserts = ["AlbumV1", "AlbumV2"]
        albums.deletes = [Table.DeleteRule(type: "AlbumDeleteV1", target: .by([Path(name: "id")], all: false))]
        var links = Table(name: "links")
        links.feeds = [Table.Feed(versions: [.init(requestType: "LinksV1")])]
        links.upserts = ["LinkV1", "LinkBackfillV1"]
        return Schema(version: 2, tables: [albums, links])
    }()

    private var machine: PullMachine
    private(set) var action: PullAction
    /// Whether a stream is asked for now.
    var isStreaming: Bool { if case .stream(.open) = action { true } else { false } }
    /// How a refusal of the stream request is read now.
    var refusalReading: RefusalReading { machine.refusalReading }
    /// What the next pull may go on from.
    var cachedAnswer: CachedAnswer? { machine.cachedAnswer }
    /// The plans of the diffs so far, and what the next one will say.
    private(set) var diffed: [LedgerDiffPlan] = []
    var report = LedgerDiffReport()
    /// How many of the next diffs find a ledger that cannot be read.
    var damages = 0

    init(
        presented: Int64? = nil, version: Int = 1, settings: PullSettings = PullSettings(),
        cached: CachedAnswer? = nil, session: Session = PullPlaybook.session, digest: String = PullPlaybook.digest,
        tableDigests: [String: String] = [:], schema: Schema = PullPlaybook.schema, requested: Migration? = nil,
        startOvers: Int = 0, distrustsPosition: Bool = false
    ) {
        var query = PullQuery(
            principal: Self.principal, session: session, presented: presented.flatMap { Cursor(rawValue: $0) },
            schemaVersion: version, requested: requested, schema: schema, effectiveVersion: version,
            mappingDigest: digest,
            tableDigests: tableDigests, newReplica: Self.newReplica, cached: cached, startOvers: startOvers)
        query.distrustsPosition = distrustsPosition
        machine = PullMachine(query: query, settings: settings)
        action = machine.begin()
    }

    /// Reports what happened to the last action and expects the next one.
    mutating func send(_ event: PullEvent, expect expected: PullAction, at place: SourceLocation = #_sourceLocation) {
        send(event)
        #expect(action == expected, sourceLocation: place)
    }

    /// Reports what happened to the last action; the test looks at the next one itself.
    ///
    /// That a step of the stream is done, the stream is told.
    @discardableResult
    mutating func send(_ event: PullEvent) -> PullAction {
        var event = event
        if case .stream = action, event == .done { event = .stream(.done) }
        action = machine.handle(event)
        guard case .diff(let plan) = action else { return action }
        diffed.append(plan)
        if damages > 0 {
            damages -= 1
            return send(.ledgerDamaged)
        }
        action = machine.handle(.diffed(report))
        // A pull that asked the clock before the diff asks again.
        if case .clock = event, action == .readClock { action = machine.handle(event) }
        return action
    }

    /// Reports a whole stream that carried one album, and everything up to the commit, whose row it gives back.
    mutating func finish(
        received: CheckpointVector = CheckpointVector(["SyncCompleteV1": "SyncCompleteV1|20"]), at now: Instant = 5_000,
        place: SourceLocation = #_sourceLocation
    ) throws -> CursorRow {
        send(.streamEnded(StreamReport(end: .complete, received: received, carriedData: true)))
        if action == .listCheckpoints { send(.listed(CheckpointVector())) }
        #expect(action == .readClock, sourceLocation: place)
        guard case .commit(let row, _) = send(.clock(now)) else {
            Issue.record("expected a commit, got \(action)", sourceLocation: place)
            throw PullFailure.streamBroken
        }
        return row
    }

    static func row(
        _ cursor: Int64 = 1_000, vector: CheckpointVector = PullPlaybook.vector,
        session: Session = PullPlaybook.session, generation: Int = 0, isConfirmed: Bool = true,
        digest: String = PullPlaybook.digest, comparisons: [String: FullComparison] = [:], schemaVersion: Int? = 1
    ) throws -> CursorRow {
        CursorRow(
            principal: principal, cursor: try #require(Cursor(rawValue: cursor)), replica: replica, parent: nil,
            vector: vector, schemaVersion: schemaVersion, session: session, generation: generation,
            isConfirmed: isConfirmed,
            mappingDigest: digest, comparisons: comparisons)
    }

    static func context(
        _ row: CursorRow?, position: Position = .at(PullPlaybook.vector), generation: Int = 0,
        isFork: Bool = false, isNewestOfReplica: Bool = true, newest: Int64? = 1_000
    ) -> PullContext {
        PullContext(
            row: row, isFork: isFork, isNewestOfReplica: isNewestOfReplica,
            newest: newest.flatMap { Cursor(rawValue: $0) },
            session: SessionRow(generation: generation, position: position))
    }
}

// Steps of the stream, as if they were the pull's own.
extension PullAction {
    /// Asks for everything that a client of version 1 has, from the vector on.
    static func stream(from vector: CheckpointVector, afresh: Bool = true) -> PullAction {
        .stream(types: PullPlaybook.types, from: vector, afresh: afresh)
    }

    static func stream(types: [String], from vector: CheckpointVector, afresh: Bool) -> PullAction {
        .stream(.open(types: types, from: vector, afresh: afresh))
    }

    static func storePosition(_ position: Position) -> PullAction { .stream(.storePosition(position)) }
    static var listCheckpoints: PullAction { .stream(.listCheckpoints) }
    static func forget(_ namespaces: [String]) -> PullAction { .stream(.forget(namespaces)) }
    static var forgetAll: PullAction { .stream(.forgetAll) }
    static func acknowledge(_ tokens: [String]) -> PullAction { .stream(.acknowledge(tokens)) }
    static var raiseGeneration: PullAction { .stream(.raiseGeneration) }
    static func acknowledgeReset(token: String) -> PullAction { .stream(.acknowledgeReset(token: token)) }
    static var takeCached: PullAction { .stream(.takeCached) }
    /// Waits before a broken stream is taken up again.
    static func pause(_ milliseconds: Int64) -> PullAction { .stream(.sleep(milliseconds)) }
}

extension PullEvent {
    /// A stream that ended so.
    static func ended(
        _ end: StreamReport.End, received: [String: String] = [:], carriedData: Bool = false
    ) -> PullEvent {
        .streamEnded(StreamReport(end: end, received: CheckpointVector(received), carriedData: carriedData))
    }

    static func streamEnded(_ report: StreamReport) -> PullEvent { .stream(.ended(report)) }
    static func listed(_ held: CheckpointVector) -> PullEvent { .stream(.listed(held)) }
    static var tokensRefused: PullEvent { .stream(.tokensRefused) }
    static var namespacesRefused: PullEvent { .stream(.namespacesRefused) }
    static func typesRefused(named: [String]) -> PullEvent { .stream(.typesRefused(named: named)) }
    static func generationRaised(_ generation: Int) -> PullEvent { .stream(.generationRaised(generation)) }
}
