// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import SyncEngine

/// Events in any order: what a backend, a state or a clock comes up with must never end the process.
@Suite struct PullMachineFuzzTests {
    typealias Book = PullPlaybook

    private static let events = 250_000

    @Test(.timeLimit(.minutes(5)), arguments: 1...4 as ClosedRange<UInt64>)
    func `no event in any state ends more than its pull`(_ seed: UInt64) throws {
        var fuzz = try Fuzz(seed: seed)
        var events = 0
        var reached: [String: Int] = [:]
        while events < Self.events {
            var machine = fuzz.machine()
            var action = machine.begin()
            // Long enough for every state, and on behind the end now and then.
            for _ in 0..<fuzz.number(below: 40) + 2 {
                let event = fuzz.number(below: 8) > 0 ? fuzz.answer(to: action) : fuzz.event()
                if events.isMultiple(of: 3) { reached[UnexpectedEvent.name(of: machine.step), default: 0] += 1 }
                action = machine.handle(event)
                events += 1
                if case .fail(.unexpectedEvent) = action { #expect(machine.unexpected != nil) }
                if case .ended = machine.step, fuzz.number(below: 4) > 0 { break }
            }
        }
        // All of them, or the random walk has lost its way.
        let steps = [
            "loading", "confirmed", "compacted", "comparing", "comparisonDropped", "positionListed", "streaming",
            "pausing",
            "listingSelfWritten", "resetRaised", "resetAcknowledged", "diffing", "cachedTaken", "clock", "committing",
            "ended",
        ]
        #expect(Set(steps).subtracting(reached.keys).isEmpty, "seed \(seed) has reached \(reached)")
    }
}

/// Makes pulls and events at random, from what was made once: to make them takes longer than to handle them.
private struct Fuzz {
    typealias Book = PullPlaybook

    private var generator: SplitMix
    private var contexts: [PullContext] = []
    private var queries: [PullQuery] = []
    private var settings: [PullSettings] = []
    private var diffs: [LedgerDiffReport] = []
    private var reports: [StreamReport] = []
    private let vectors = [
        CheckpointVector(), Book.vector, PullCachedAnswerTests.end, CheckpointVector(["GoneV1": "GoneV1|1"]),
    ]
    private let taken: Cursor

    init(seed: UInt64) throws {
        generator = SplitMix(seed: seed)
        taken = try #require(Cursor(rawValue: 6_000))
        for _ in 0..<200 {
            contexts.append(try context())
            queries.append(try query())
            settings.append(anySettings())
            diffs.append(diff())
            reports.append(report())
        }
    }

    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    private mutating func isSo() -> Bool { number(below: 2) == 0 }

    private mutating func any<Value>(_ values: [Value]) -> Value { values[number(below: values.count)] }

    /// A pull that is about to begin.
    mutating func machine() -> PullMachine { PullMachine(query: any(queries), settings: any(settings)) }

    /// What may really come of an action, as far as anybody else decides it.
    mutating func answer(to action: PullAction) -> PullEvent {
        switch action {
        case .loadContext: .context(any(contexts))
        case .listCheckpoints: .listed(any(vectors))
        case .forget: isSo() ? .done : .namespacesRefused
        case .acknowledge: number(below: 3) > 0 ? .done : .tokensRefused
        case .raiseGeneration: .generationRaised(1)
        case .stream: number(below: 4) > 0 ? .streamEnded(any(reports)) : .typesRefused(named: ["AlbumsV1"])
        case .beginComparison: .comparisonGranted(number(below: 4) > 0)
        case .diff: number(below: 4) > 0 ? .diffed(any(diffs)) : .ledgerDamaged
        case .compactLedger: isSo() ? .done : .ledgerDamaged
        case .readClock: .clock(number(below: 3) > 0 ? 5_000 : time())
        case .commit: number(below: 4) > 0 ? .done : .cursorTaken(newest: taken)
        default: .done
        }
    }

    /// Anything.
    mutating func event() -> PullEvent {
        switch number(below: 14) {
        case 0: .context(any(contexts))
        case 1: .listed(any(vectors))
        case 2: .tokensRefused
        case 3: .namespacesRefused
        case 4: .typesRefused(named: any([[], ["AlbumsV1"], ["AlbumsV1", "LinksV1"], ["NobodyV1"]]))
        case 5: .generationRaised(number(below: 3))
        case 6: .comparisonGranted(isSo())
        case 7: .comparisonFailed
        case 8: .ledgerDamaged
        case 9: .diffed(any(diffs))
        case 10: .streamEnded(any(reports))
        case 11: .clock(time())
        case 12: .cursorTaken(newest: taken)
        default: .done
        }
    }

    private mutating func time() -> Int64 {
        any([0, 1, 999, 1_000, 5_000, PullLedgerTests.now, Cursor.maximum, Cursor.maximum + 1, .min, .max])
    }
}

extension Fuzz {
    private mutating func anySettings() -> PullSettings {
        var settings = isSo() ? PullLedgerTests.settings : PullSettings()
        settings.style = any([.server, .server, .request])
        settings.unknownCursor = any([.adopt, .replacement, .refuse])
        settings.resumeAttempts = number(below: 3)
        return settings
    }

    private mutating func query() throws -> PullQuery {
        let presented = any([nil, 1_000, 1_000] as [Int64?])
        let fromNothing = CachedAnswer(
            from: CheckpointVector(), to: Book.vector, whole: ["AlbumsV1", "LinksV1"], session: Book.session,
            generation: 0)
        let query = PullQuery(
            principal: Book.principal, session: any([Book.session, Session(rawValue: "other")]),
            presented: presented.flatMap { Cursor(rawValue: $0) }, isFirst: any([nil, false]),
            schemaVersion: any([nil, 1, 2]), schema: Book.schema, effectiveVersion: any([1, 2]),
            mappingDigest: any([Book.digest, "other"]), tableDigests: ["albums": "m", "links": "l"],
            newReplica: Book.newReplica, kept: any([nil, try PullCachedAnswerTests.kept(), fromNothing]))
        return number(below: 4) > 0 ? query : query.checking(any([["albums"], ["albums", "links"], []]))
    }

    private mutating func context() throws -> PullContext {
        var ledger = PullContext.Ledger()
        ledger.hasBase = isSo()
        ledger.isExact = number(below: 4) > 0
        ledger.needsCompaction = number(below: 4) == 0
        ledger.rows = any([[:], ["AlbumsV1": 10]])
        ledger.resyncAt = any([0, 0, 2_000])
        let comparisons = any([[:], PullLedgerTests.compared(), PullLedgerTests.compared(1)])
        let row = try Book.row(
            any([1_000, Cursor.maximum]), vector: any(vectors), generation: number(below: 2), isConfirmed: isSo(),
            comparisons: comparisons, schemaVersion: any([nil, 1, 2, 3]))
        var context = Book.context(
            any([nil, row, row, row]), position: any([.unknown, .at(any(vectors))]), isFork: number(below: 5) == 0,
            isNewestOfReplica: isSo(), newest: any([nil, 1_000, Cursor.maximum]))
        context.ledger = ledger
        context.hasLedgers = isSo()
        context.pushedVersion = any([nil, 1, 2])
        context.hasDuplicates = number(below: 5) == 0
        context.ids = VisibleIDs(sequence: Int64(number(below: 2)))
        context.now = PullLedgerTests.now
        return context
    }

    private mutating func report() -> StreamReport {
        let end = any([.complete, .complete, .broken, .reset(token: "SyncResetV1|reset")] as [StreamReport.End])
        return StreamReport(end: end, received: any(vectors), carriedData: isSo())
    }

    private mutating func diff() -> LedgerDiffReport {
        let types = any([[], ["AlbumsV1"], ["AlbumsV1", "LinksV1"]] as [Set<String>])
        var report = LedgerDiffReport(needsSecondLook: isSo(), suspended: any([[], types]), blocked: any([[], types]))
        report.awaitingRedelivery = any([[], types])
        return report
    }
}
