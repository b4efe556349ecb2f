// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

/// What a pull compares the stream with where a ledger is kept.
@Suite struct PullLedgerTests {
    typealias Book = PullPlaybook

    static let settings = PullSettings(comparisons: ComparisonSchedule())
    static let now: Instant = 2_592_000_000
    static let types = Set(Book.types)

    /// Everything was compared a moment ago.
    static func compared(_ doneAt: Instant = now - 1_000, mapping: String = "m") -> [String: FullComparison] {
        [
            "AlbumsV1": FullComparison(doneAt: doneAt, mapping: mapping),
            "LinksV1": FullComparison(doneAt: doneAt, mapping: "l"),
        ]
    }

    static func book(
        _ session: Session = Book.session, unknown: UnknownCursorRule = .adopt, cached: CachedAnswer? = nil
    ) -> Book {
        var settings = settings
        settings.unknownCursor = unknown
        return Book(
            presented: 1_000, settings: settings, cached: cached, session: session,
            tableDigests: ["albums": "m", "links": "l"])
    }

    static func context(
        _ row: CursorRow?, generation: Int = 0, isFork: Bool = false, newest: Int64? = 1_000,
        ledger: PullContext.Ledger = PullContext.Ledger(), hasLedgers: Bool = true
    ) -> PullContext {
        var context = Book.context(row, generation: generation, isFork: isFork, newest: newest)
        context.ledger = ledger
        context.hasLedgers = hasLedgers
        context.sequence = 12
        context.now = now
        return context
    }

    static func wholePlan(
        _ basis: LedgerDiffPlan.Basis, _ output: LedgerDiffPlan.Output, isExact: Bool, untracked: Set<String> = []
    ) -> LedgerDiffPlan {
        LedgerDiffPlan(
            basis: basis, output: output, isFirst: false, isExact: isExact, compared: types, untracked: untracked)
    }

    @Test func `an incremental pull is compared with what the cursor's replica holds`() throws {
        var pull = Self.book()
        pull.send(
            .context(Self.context(try Book.row(comparisons: Self.compared()))), expect: .stream(from: Book.vector))
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed == [LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false)])
        #expect(row.noted == 12 && row.comparisons == Self.compared())
    }

    @Test func `a cursor of another session gets everything and only what differs`() throws {
        var pull = Self.book(Session(rawValue: "new"), unknown: .refuse)
        pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()))))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed == [Self.wholePlan(.cursor, .delta, isExact: true)])
        #expect(row.replica == Book.replica && row.comparisons == Self.compared(Self.now))
    }

    @Test func `a cursor from before a reset gets everything and only what differs`() throws {
        var pull = Self.book(unknown: .refuse)
        pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()), generation: 1)))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        _ = try pull.finish(at: Self.now)
        #expect(pull.diffed == [Self.wholePlan(.cursor, .delta, isExact: true)])
    }

    @Test func `a cursor that the ledger does not reach begins a new replica that trusts no hash`() throws {
        var pull = Self.book()
        var ledger = PullContext.Ledger()
        ledger.isExact = false
        pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()), isFork: true, ledger: ledger)))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed == [Self.wholePlan(.principal, .whole, isExact: false)])
        #expect(row.replica == Book.newReplica && pull.action == .commit(row, isNewReplica: true))
    }

    @Test func `a replica that the operator distrusts gets everything`() throws {
        var pull = Self.book()
        var ledger = PullContext.Ledger()
        ledger.resyncAt = 1_000
        pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()), ledger: ledger)))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed == [Self.wholePlan(.cursor, .delta, isExact: false)])
        #expect(row.replica == Book.replica)
    }

    @Test func `a fork begins with all that its cursor had`() throws {
        var pull = Self.book()
        pull.send(
            .context(Self.context(try Book.row(comparisons: Self.compared()), isFork: true)),
            expect: .stream(from: Book.vector))
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed == [LedgerDiffPlan(basis: .cursor, output: .whole, isFirst: false)])
        #expect(row.replica == Book.newReplica && row.comparisons == Self.compared())
    }

    /// A reset before the ledger has seen everything: the base is missing, or a type was never compared.
    private static func resetOfUnknown(_ rule: UnknownCursorRule, hasBase: Bool) throws -> Book {
        var pull = book(unknown: rule)
        var ledger = PullContext.Ledger()
        ledger.hasBase = hasBase
        let comparisons = hasBase ? compared().filter { $0.key == "LinksV1" } : [:]
        pull.send(.context(context(try Book.row(comparisons: comparisons), generation: 1, ledger: ledger)))
        return pull
    }

    @Test(arguments: [true, false])
    func `a reset before everything was compared asks for a replacement where that is the rule`(
        _ hasBase: Bool
    ) throws {
        var pull = try Self.resetOfUnknown(.replacement, hasBase: hasBase)
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed == [Self.wholePlan(.nothing, .whole, isExact: false, untracked: Self.types)])
        #expect(row.replica == (hasBase ? Book.newReplica : Book.replica))
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .replacement, row: row, restart: .olderGeneration)
        pull.send(.done, expect: .answer(plan))
    }

    @Test(arguments: [true, false])
    func `a reset before everything was compared is refused where that is the rule`(_ hasBase: Bool) throws {
        let pull = try Self.resetOfUnknown(.refuse, hasBase: hasBase)
        #expect(pull.action == .fail(.unknownCursor))
    }

    @Test func `a reset before everything was compared adds what the ledger knows to what is adopted`() throws {
        var pull = try Self.resetOfUnknown(.adopt, hasBase: true)
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        _ = try pull.finish(at: Self.now)
        #expect(pull.diffed == [Self.wholePlan(.cursor, .delta, isExact: true, untracked: ["AlbumsV1"])])
    }

    @Test(arguments: [UnknownCursorRule.adopt, .replacement, .refuse])
    func `a collected cursor is compared with all that the principal's devices held`(
        _ rule: UnknownCursorRule
    ) throws {
        var pull = Self.book(unknown: rule)
        pull.send(.context(Self.context(nil, newest: 2_000)))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish(at: Self.now)
        #expect(pull.diffed == [Self.wholePlan(.principal, .whole, isExact: false, untracked: Self.types)])
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: .unknownCursor)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `a cursor that was never handed out follows the rule although there are ledgers`() {
        var pull = Self.book(unknown: .refuse)
        pull.send(.context(Self.context(nil, newest: 999)), expect: .fail(.unknownCursor))
    }

    @Test func `another principal's cursor follows the rule, whichever cursors this one has got`() {
        var pull = Self.book(unknown: .refuse)
        var context = Self.context(nil, newest: 2_000)
        context.isForeign = true
        pull.send(.context(context), expect: .fail(.unknownCursor))
    }

    @Test func `a ledger that cannot be read gives way to a new replica, whatever the rule for unknown cursors`() throws
    {
        for step in ["compact", "diff"] {
            var pull = Self.book(unknown: .refuse)
            var ledger = PullContext.Ledger()
            ledger.needsCompaction = step == "compact"
            pull.damages = step == "diff" ? 1 : 0
            pull.send(.context(Self.context(try Book.row(comparisons: Self.compared()), ledger: ledger)))
            if step == "compact" {
                pull.send(.ledgerDamaged, expect: .storePosition(.unknown))
            } else {
                pull.send(.ended(.complete, carriedData: true), expect: .storePosition(.unknown))
            }
            pull.send(.done, expect: .forgetAll)
            pull.send(.done, expect: .stream(from: CheckpointVector()))
            let row = try pull.finish(at: Self.now)
            #expect(pull.diffed.last == Self.wholePlan(.principal, .whole, isExact: false))
            #expect(row.replica == Book.newReplica && row.parent == nil)
        }
    }

    @Test func `where everything came anyway a ledger that cannot be read costs no other stream`() throws {
        var pull = Self.book()
        pull.damages = 1
        pull.send(.context(Self.context(nil, newest: 2_000)))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        _ = try pull.finish(at: Self.now)
        #expect(pull.diffed.count == 2 && pull.diffed[0] == pull.diffed[1])
    }

    private static func layer(_ number: Int64) -> LedgerLayer {
        LedgerLayer(id: LayerID(rawValue: number), cursor: .first)
    }

    @Test func `a cursor that is too many steps behind the base gets everything`() {
        var outline = LedgerOutline(replica: Book.replica, base: Self.layer(1), isExact: true)
        outline.undos = (1...256).map(Self.layer)
        #expect(PullContext.Ledger(outline).isExact)
        outline.undos.append(Self.layer(257))
        #expect(!PullContext.Ledger(outline).isExact && PullContext.Ledger(outline).hasBase)
        outline.base = nil
        #expect(PullContext.Ledger(outline).isExact && !PullContext.Ledger(outline).hasBase)
    }

    @Test func `a long line of layers is compacted before anything else`() throws {
        var pull = Self.book()
        var ledger = PullContext.Ledger()
        ledger.needsCompaction = true
        pull.send(
            .context(Self.context(try Book.row(comparisons: Self.compared()), ledger: ledger)), expect: .compactLedger)
        pull.send(.done, expect: .stream(from: Book.vector))
    }
}
