// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModel
import Testing

@testable import Deduplication
@testable import Ledger
@testable import SyncMachines

/// Events in any order: what a backend, a state or a clock comes up with must never end the process.
@Suite struct PullMachineFuzzTests {
    typealias Book = PullPlaybook

    private static let events =
        ProcessInfo.processInfo.environment["RIND_TEST_EVENTS"].flatMap { Int($0) } ?? 250_000

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
                if events.isMultiple(of: 5) {
                    for name in Self.names(of: machine.state) { reached[name, default: 0] += 1 }
                }
                action = machine.handle(event)
                events += 1
                if case .fail(.unexpectedEvent) = action { #expect(machine.unexpected != nil) }
                if case .ended = machine.state, fuzz.number(below: 4) > 0 { break }
            }
        }
        // All of them, or the random walk has lost its way.
        let states = [
            "loading", "confirming", "compacting", "streaming", "askingForPermit", "comparing", "droppingComparison",
            "checkingIdle", "diffing", "readingClock", "waiting", "committing", "ended",
            "stream.takingCached", "stream.listing", "stream.setting", "stream.streaming", "stream.pausing",
            "stream.listingSelfWritten", "stream.raisingGeneration", "stream.acknowledgingReset",
        ]
        #expect(Set(states).subtracting(reached.keys).isEmpty, "seed \(seed) has reached \(reached)")
    }

    /// A state by its name, and that of its stream.
    private static func names(of state: PullMachine.State) -> [String] {
        let name = UnexpectedEvent.name(of: state)
        switch state {
        case .streaming(let course), .comparing(let course, _):
            return [name, "stream." + UnexpectedEvent.name(of: course.stream.state)]
        default: return [name]
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: 1...2 as ClosedRange<UInt64>)
    func `no event in any state ends more than its check`(_ seed: UInt64) throws {
        var fuzz = try Fuzz(seed: seed)
        var events = 0
        var ends: Set<String> = []
        while events < Self.events / 4 {
            var machine = fuzz.check()
            var action = machine.begin()
            for _ in 0..<fuzz.number(below: 30) + 2 {
                let event = fuzz.number(below: 8) > 0 ? fuzz.answer(to: action) : fuzz.checkEvent()
                action = machine.handle(event)
                events += 1
                if case .fail(.unexpectedEvent) = action { #expect(machine.unexpected != nil) }
                if case .ended = machine.state {
                    ends.insert("\(action)".prefix { $0 != ":" && $0 != "," }.description)
                    if fuzz.number(below: 4) > 0 { break }
                }
            }
        }
        #expect(ends.count > 8, "\(ends)")
    }
}

/// Makes pulls and events at random, from what was made once: to make them takes longer than to handle them.
private struct Fuzz {
    typealias Book = PullPlaybook

    private var generator: SeededGenerator
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
        generator = SeededGenerator(seed: seed)
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

    /// A check that is about to begin.
    mutating func check() -> CheckMachine {
        let tables = any([["albums"], ["albums", "links"], []] as [Set<String>])
        return CheckMachine(query: any(queries).checking(tables), settings: any(settings))
    }

    /// What may really come of a check's action.
    mutating func answer(to action: CheckAction) -> CheckEvent {
        switch action {
        case .loadContext: .context(any(contexts))
        case .stream(let action): .stream(answer(to: action))
        case .end, .fail: checkEvent()
        }
    }

    /// What may really come of a stream's action.
    mutating func answer(to action: StreamAction) -> StreamEvent {
        switch action {
        case .listCheckpoints: .listed(any(vectors))
        case .forget: isSo() ? .done : .namespacesRefused
        case .acknowledge: number(below: 3) > 0 ? .done : .tokensRefused
        case .raiseGeneration: .generationRaised(1)
        case .open: number(below: 4) > 0 ? .ended(any(reports)) : .typesRefused(named: ["AlbumsV1"])
        case .storePosition, .forgetAll, .acknowledgeReset, .takeCached, .sleep: .done
        }
    }

    /// What may really come of an action, as far as anybody else decides it.
    mutating func answer(to action: PullAction) -> PullEvent {
        switch action {
        case .loadContext: .context(any(contexts))
        case .stream(let action): .stream(answer(to: action))
        case .beginComparison: .comparisonGranted(number(below: 4) > 0)
        case .diff: number(below: 4) > 0 ? .diffed(any(diffs)) : .ledgerDamaged
        case .compactLedger: isSo() ? .done : .ledgerDamaged
        case .readClock: .clock(number(below: 3) > 0 ? 5_000 : time())
        case .awaitIDs: [.done, .done, .idsChanged, .idsUnknown][number(below: 4)]
        case .commit: [.done, .done, .done, .cursorTaken(newest: taken), .idsChanged][number(below: 5)]
        default: .done
        }
    }

    /// Anything.
    mutating func event() -> PullEvent {
        switch number(below: 16) {
        case 0: .context(any(contexts))
        case 1...6: .stream(streamEvent())
        case 7: .comparisonGranted(isSo())
        case 8: .comparisonFailed
        case 9: .ledgerDamaged
        case 10: .diffed(any(diffs))
        case 11: .clock(time())
        case 12: .cursorTaken(newest: taken)
        case 13: .idsChanged
        case 14: .idsUnknown
        default: .done
        }
    }

    /// Anything that may happen to a check.
    mutating func checkEvent() -> CheckEvent {
        number(below: 4) == 0 ? .context(any(contexts)) : .stream(streamEvent())
    }

    private mutating func streamEvent() -> StreamEvent {
        switch number(below: 7) {
        case 0: .listed(any(vectors))
        case 1: .tokensRefused
        case 2: .namespacesRefused
        case 3: .typesRefused(named: any([[], ["AlbumsV1"], ["AlbumsV1", "LinksV1"], ["NobodyV1"]]))
        case 4: .generationRaised(number(below: 3))
        case 5: .ended(any(reports))
        default: .done
        }
    }

    private mutating func time() -> Instant {
        let maximum = Instant(milliseconds: Cursor.maximum)
        return any([0, 1, 999, 1_000, 5_000, PullLedgerTests.now, maximum, maximum + 1, .earliest, .latest])
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
        return PullQuery(
            principal: Book.principal, session: any([Book.session, Session(rawValue: "other")]),
            presented: presented.flatMap { Cursor(rawValue: $0) }, isFirst: any([nil, false]),
            schemaVersion: any([nil, 1, 2]), schema: Book.schema, effectiveVersion: any([1, 2]),
            mappingDigest: any([Book.digest, "other"]), tableDigests: ["albums": "m", "links": "l"],
            newReplica: Book.newReplica, cached: any([nil, try PullCachedAnswerTests.cached(), fromNothing]))
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
        context.isHeldUpByPushes = number(below: 20) == 0
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
