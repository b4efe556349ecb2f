// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

// Comparisons that are due, and the second look.
extension PullLedgerTests {
    /// The vector without what albums are streamed from.
    static let withoutAlbums: CheckpointVector = {
        var vector = Book.vector
        vector["AlbumV1"] = nil
        vector["LinkV1"] = "LinkV1|6"
        return vector
    }()

    @Test func `a type that was not compared for a week is streamed whole, the others go on`() throws {
        var pull = Self.book()
        var comparisons = Self.compared()
        comparisons["AlbumsV1"]?.doneAt = Self.now - 7 * 86_400_000
        let presented = try Book.row(comparisons: comparisons)
        pull.send(.context(Self.context(presented)), expect: .stream(from: Book.vector))
        pull.send(.ended(.complete, received: ["LinkV1": "LinkV1|6"]), expect: .beginComparison(type: "AlbumsV1"))
        pull.send(.comparisonGranted(true), expect: .storePosition(.unknown))
        pull.send(.done, expect: .forget(["AlbumV1"]))
        pull.send(.done, expect: .acknowledge(["LinkV1|6"]))
        pull.send(.done, expect: .stream(from: Self.withoutAlbums, afresh: false))
        let row = try pull.finish(at: Self.now + 5)
        var plan = LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false, compared: ["AlbumsV1"])
        plan.audited = ["AlbumsV1"]
        #expect(pull.diffed == [plan])
        #expect(row.comparisons["AlbumsV1"] == FullComparison(doneAt: Self.now, mapping: "m"))
        #expect(row.comparisons["LinksV1"] == presented.comparisons["LinksV1"])
    }

    @Test func `a comparison that gets no place stays due and the pull goes on without it`() throws {
        var pull = Self.book()
        var comparisons = Self.compared()
        comparisons["AlbumsV1"]?.mapping = "older"
        pull.send(.context(Self.context(try Book.row(comparisons: comparisons))))
        pull.send(.ended(.complete, carriedData: true), expect: .beginComparison(type: "AlbumsV1"))
        pull.send(.comparisonGranted(false), expect: .readClock)
        guard case .commit(let row, _) = pull.send(.clock(Self.now)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.comparisons == comparisons && pull.diffed.last?.compared == [])
    }

    @Test func `a type that was never compared is due and its ids may be known to the device`() throws {
        var pull = Self.book()
        var comparisons = Self.compared()
        comparisons["LinksV1"] = nil
        pull.send(.context(Self.context(try Book.row(comparisons: comparisons))))
        pull.send(.ended(.complete), expect: .beginComparison(type: "LinksV1"))
        pull.send(.comparisonGranted(true))
        pull.send(.done)
        pull.send(.done)
        _ = try pull.finish(at: Self.now)
        #expect(pull.diffed.last?.untracked == ["LinksV1"] && pull.diffed.last?.compared == ["LinksV1"])
    }

    /// The row's type, its mapping then, whether that is known now of AlbumsV2.
    @Test(
        arguments: [
            ("AlbumsV2", "m", true), ("AlbumsV2", "other", true), ("AlbumsV2", "", true), ("AlbumsV2", "m+l", false),
            ("AlbumsV1", "m", true), ("AlbumsV1", "m+l", false), ("LinksV1", "m", false),
        ])
    func `a type is known by another version of it, but not if it fills more tables with a ledger than before`(
        _ row: (type: String, mapping: String, isKnown: Bool)
    ) throws {
        var table = Table(name: "albums")
        table.feeds = [.init(versions: [.init(requestType: "AlbumsV1"), .init(requestType: "AlbumsV2", since: 2)])]
        let types = LedgeredType.all(in: [table], at: 2, digests: ["albums": "m"])
        let old = FullComparison(doneAt: 7, mapping: row.mapping)
        let known = LedgeredType.known(types, of: try Book.row(comparisons: [row.type: old]))
        #expect(known["AlbumsV2"]?.doneAt == (row.isKnown ? row.type == "AlbumsV2" ? 7 : 0 : nil))
    }

    @Test func `a type that is due and has no checkpoint is compared with what comes anyway`() throws {
        var pull = Self.book()
        var comparisons = Self.compared()
        comparisons["AlbumsV1"] = nil
        var vector = Book.vector
        vector["AlbumV1"] = nil
        pull.send(.context(Self.context(try Book.row(vector: vector, comparisons: comparisons))))
        pull.send(.done)
        pull.send(.done)
        pull.send(.ended(.complete, carriedData: true), expect: .listCheckpoints)
        pull.send(.listed(CheckpointVector()), expect: .readClock)
        #expect(pull.diffed.map(\.compared) == [["AlbumsV1"]] && pull.diffed.last?.untracked == ["AlbumsV1"])
        guard case .commit(let row, _) = pull.send(.clock(Self.now)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.comparisons["AlbumsV1"] == FullComparison(doneAt: Self.now, mapping: "m"))
    }

    @Test func `what was left undone outside of a comparison makes one due`() throws {
        var pull = Self.book()
        pull.report.suspended = ["LinksV1"]
        pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()))))
        let row = try pull.finish(at: Self.now)
        #expect(row.comparisons["LinksV1"] == FullComparison(doneAt: 0, mapping: "l"))
    }

    @Test func `before anything is deleted for absence the stream is continued once from its end`() throws {
        var pull = Self.book(Session(rawValue: "new"))
        pull.report.needsSecondLook = true
        pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()))))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        pull.send(.ended(.complete, received: Book.vector.tokens, carriedData: true), expect: .listCheckpoints)
        // What the backend has written by itself is in the vector already; now it is made to hold all of it.
        pull.send(.listed(CheckpointVector()), expect: .listCheckpoints)
        pull.send(
            .listed(CheckpointVector()), expect: .acknowledge(Book.vector.namespaces.compactMap { Book.vector[$0] }))
        pull.send(.done, expect: .storePosition(.at(Book.vector)))
        pull.send(.done, expect: .stream(from: Book.vector, afresh: false))
        pull.send(.ended(.complete, received: ["SyncCompleteV1": "SyncCompleteV1|30"]), expect: .readClock)
        #expect(pull.diffed.map(\.isSecondLook) == [false, true])
        guard case .commit(let row, _) = pull.send(.clock(Self.now)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.vector["SyncCompleteV1"] == "SyncCompleteV1|30" && row.vector["AlbumV1"] == "AlbumV1|5")
    }

    @Test(arguments: [true, false])
    func `a comparison that could not be judged stays due, but not at once`(_ isBlocked: Bool) throws {
        var pull = Self.book()
        pull.report = LedgerDiffReport(
            suspended: isBlocked ? [] : ["AlbumsV1"], blocked: isBlocked ? ["AlbumsV1"] : [])
        var comparisons = Self.compared()
        comparisons["AlbumsV1"]?.doneAt = 5
        pull.send(.context(Self.context(try Book.row(comparisons: comparisons))))
        pull.send(.ended(.complete), expect: .beginComparison(type: "AlbumsV1"))
        pull.send(.comparisonGranted(true))
        pull.send(.done)
        pull.send(.done)
        var row = try pull.finish(at: Self.now)
        #expect(
            row.comparisons["AlbumsV1"]
                == FullComparison(doneAt: 5, triedAt: Self.now, mapping: "m", blockedAt: isBlocked ? Self.now : 0))

        row.isConfirmed = true
        row.vector = Book.vector
        let later = Self.context(row)
        var next = Self.book()
        next.send(.context(later))
        next.send(.ended(.complete))
        #expect(next.action != .beginComparison(type: "AlbumsV1"))
        var muchLater = later
        muchLater.now = Self.now + ComparisonSchedule.retryAfter
        next = Self.book()
        next.send(.context(muchLater))
        next.send(.ended(.complete), expect: .beginComparison(type: "AlbumsV1"))
        var accepted = later
        accepted.ledger.acceptedAt = Self.now
        next = Self.book()
        next.send(.context(accepted))
        next.send(.ended(.complete))
        #expect((next.action == .beginComparison(type: "AlbumsV1")) == isBlocked)
    }

    /// A pull that is comparing albums, which were due, after a stream that brought a link.
    private static func comparing(_ albums: FullComparison?, at time: Instant = now) throws -> Book {
        var pull = book()
        var comparisons = compared()
        comparisons["AlbumsV1"] = albums
        var context = context(try Book.row(comparisons: comparisons))
        context.now = time
        pull.send(.context(context))
        pull.send(.ended(.complete, received: ["LinkV1": "LinkV1|6"], carriedData: true))
        pull.send(.comparisonGranted(true))
        pull.send(.done)
        return pull
    }

    /// The pull has gone back and ends as a plain one.
    private static func finishPlain(_ pull: inout Book, _ failures: Int) throws -> CursorRow {
        #expect(pull.action == .dropComparison(type: "AlbumsV1", failures: failures))
        pull.send(.done, expect: .readClock)
        #expect(pull.diffed.last?.compared == [] && pull.diffed.last?.isSecondLook == false)
        guard case .commit(let row, _) = pull.send(.clock(now + 5)) else {
            Issue.record("expected a commit, got \(pull.action)")
            throw PullFailure.streamBroken
        }
        var vector = Book.vector
        vector["LinkV1"] = "LinkV1|6"
        #expect(row.vector == vector)
        return row
    }

    @Test func `a comparison whose stream breaks too often leaves the pull as it was before`() throws {
        var pull = try Self.comparing(FullComparison(doneAt: 5, mapping: "m"))
        pull.send(.done)
        pull.send(.done)
        for _ in 0..<3 {
            pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|3"], carriedData: true))
            while !pull.isStreaming { pull.send(pull.action == .listCheckpoints ? .listed(CheckpointVector()) : .done) }
        }
        pull.send(.ended(.broken))
        let row = try Self.finishPlain(&pull, 1)
        #expect(row.comparisons["AlbumsV1"] == FullComparison(doneAt: 5, triedAt: Self.now, mapping: "m", failures: 1))
    }

    @Test(arguments: [0, 1, 2, 3])
    func `a comparison that fails at any step leaves the pull as it was before`(_ steps: Int) throws {
        var pull = try Self.comparing(FullComparison(doneAt: 5, mapping: "m", failures: 2))
        for _ in 0..<steps where pull.action != .stream(from: Self.withoutAlbums, afresh: false) { pull.send(.done) }
        if steps == 3 {
            // Not even the second look has to succeed.
            pull.report.needsSecondLook = true
            pull.send(.ended(.complete, carriedData: true))
            while pull.action == .listCheckpoints { pull.send(.listed(CheckpointVector())) }
            pull.report.needsSecondLook = false
        }
        pull.send(.comparisonFailed)
        let row = try Self.finishPlain(&pull, 3)
        #expect(row.comparisons["AlbumsV1"] == FullComparison(doneAt: 5, triedAt: Self.now, mapping: "m", failures: 3))
    }

    @Test func `tokens that are refused in a comparison end the comparison, not the pull`() throws {
        var pull = try Self.comparing(FullComparison(doneAt: 5, mapping: "m"))
        pull.send(.done)
        pull.send(.tokensRefused)
        _ = try Self.finishPlain(&pull, 1)
    }

    @Test func `a type that could never be compared stays unknown, and waits`() throws {
        var pull = try Self.comparing(nil)
        pull.send(.comparisonFailed)
        var row = try Self.finishPlain(&pull, 1)
        #expect(row.comparisons["AlbumsV1"] == FullComparison(doneAt: 0, triedAt: Self.now, mapping: "", failures: 1))
        row.isConfirmed = true
        row.vector = Book.vector
        for (later, isTried) in [(ComparisonSchedule.retryAfter - 1, false), (ComparisonSchedule.retryAfter, true)] {
            var context = Self.context(row)
            context.now = Self.now + later
            var next = Self.book()
            next.send(.context(context))
            next.send(.ended(.complete, carriedData: true))
            #expect((next.action == .beginComparison(type: "AlbumsV1")) == isTried)
            if !isTried { #expect(next.diffed.last?.untracked == ["AlbumsV1"]) }
        }
    }

    @Test func `the pause after a failed comparison doubles up to a day`() {
        let hour = ComparisonSchedule.retryAfter
        let pauses = [0, 1, 2, 3, 5, 6, 60].map { ComparisonSchedule.pause(after: $0) }
        #expect(pauses == [hour, hour, 2 * hour, 4 * hour, 16 * hour, 24 * hour, 24 * hour])
    }

    @Test func `a reset in a comparison is served`() throws {
        var pull = try Self.comparing(FullComparison(doneAt: 5, mapping: "m"))
        pull.send(.done)
        pull.send(.done)
        pull.send(.ended(.reset(token: "SyncResetV1|1")), expect: .raiseGeneration)
        pull.send(.generationRaised(1))
        pull.send(.done)
        pull.send(.done)
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed.last?.compared == Self.types && row.comparisons == Self.compared(Self.now))
    }

    @Test func `what the operator has accepted is compared first, so that no other type uses it up`() {
        let accepted = ComparisonSchedule().due(
            mappings: ["A": "m", "B": "m", "C": "m"],
            comparisons: [
                "A": FullComparison(doneAt: 1, mapping: "m"),
                "B": FullComparison(doneAt: 5, triedAt: Self.now, mapping: "m", blockedAt: Self.now),
            ], rows: [:], replica: Book.replica, acceptedAt: Self.now, at: Self.now)
        #expect(accepted == "B")
    }

    @Test func `what is held back without a comparison is found by the next one`() throws {
        var pull = Self.book()
        pull.report.blocked = ["AlbumsV1"]
        pull.send(
            .context(Self.context(try Book.row(comparisons: Self.compared()))), expect: .stream(from: Book.vector))
        let row = try pull.finish(at: Self.now)
        #expect(row.comparisons["AlbumsV1"] == FullComparison(doneAt: 0, mapping: "m"))
        #expect(row.comparisons["LinksV1"] == Self.compared()["LinksV1"])
    }

    @Test func `a reset that could not be judged leaves the types due`() throws {
        var pull = Self.book(Session(rawValue: "new"))
        pull.report.suspended = ["LinksV1"]
        pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()))))
        pull.send(.done)
        pull.send(.done)
        let row = try pull.finish(at: Self.now)
        #expect(row.comparisons["LinksV1"] == FullComparison(doneAt: 0, triedAt: Self.now, mapping: "l"))
        #expect(row.comparisons["AlbumsV1"] == FullComparison(doneAt: Self.now, mapping: "m"))
    }

    @Test func `tables with more records than the limit are compared only where something demands it`() {
        let schedule = ComparisonSchedule(every: 1_000, maximumRows: 10)
        func due(_ comparison: FullComparison, rows: Int) -> String? {
            schedule.due(
                mappings: ["T": "m"], comparisons: ["T": comparison], rows: ["T": rows], replica: Book.replica,
                acceptedAt: 0,
                at: 10_000_000)
        }
        #expect(due(FullComparison(doneAt: 1, mapping: "m"), rows: 10) == "T")
        #expect(due(FullComparison(doneAt: 1, mapping: "m"), rows: 11) == nil)
        #expect(due(FullComparison(doneAt: 1, mapping: "old"), rows: 11) == "T")
        #expect(due(FullComparison(doneAt: 0, mapping: "m"), rows: 11) == "T")
    }

    @Test func `what was compared by a clock that was ahead is compared again`() {
        let schedule = ComparisonSchedule(every: 1_000_000)
        func due(doneAt: Instant, at now: Instant) -> String? {
            schedule.due(
                mappings: ["T": "m"], comparisons: ["T": FullComparison(doneAt: doneAt, mapping: "m")], rows: [:],
                replica: ReplicaID(rawValue: 1), acceptedAt: 0, at: now)
        }
        let day = ComparisonSchedule.longestRetry
        #expect(due(doneAt: 1_000 + 365 * day, at: 1_000) == "T")
        #expect(due(doneAt: 1_000 + day, at: 1_000) == nil)
    }

    @Test func `replicas that began together are spread over the last quarter of the time`() {
        let schedule = ComparisonSchedule(every: 1_000_000)
        let starts = (Int64(1)...200).map { number -> Int64 in
            var low: Int64 = 1
            var high: Int64 = 1_000_001
            while low < high {
                let middle = (low + high) / 2
                let due = schedule.due(
                    mappings: ["T": "m"], comparisons: ["T": FullComparison(doneAt: 1, mapping: "m")], rows: [:],
                    replica: ReplicaID(rawValue: number), acceptedAt: 0, at: Instant(milliseconds: middle))
                if due == nil { low = middle + 1 } else { high = middle }
            }
            return low
        }
        #expect(starts.allSatisfy { (750_000...1_000_001).contains($0) })
        #expect(Set(starts.map { $0 / 25_000 }).count > 8)
    }
}
