// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import Backend

@Suite struct CircuitBreakerTests {
    private static let settings = CircuitBreaker.Settings(failures: 3, openTime: 1_000, trials: 1)

    /// A call that begins and ends at one moment; false if it was refused.
    @discardableResult
    private static func call(
        _ breaker: inout CircuitBreaker, _ outcome: CircuitBreaker.Outcome, at now: Instant
    ) -> Bool {
        guard let permit = try? breaker.admit(at: now) else { return false }
        breaker.end(permit, outcome, at: now)
        return true
    }

    /// What ends calls in a row, and whether that opens a breaker of three.
    @Test(
        arguments: [
            ([.unreachable, .unreachable, .unreachable], true), ([.unreachable, .unreachable], false),
            ([.unreachable, .unreachable, .answered, .unreachable, .unreachable], false),
            // Neither counts, nor begins anew.
            ([.unreachable, .failed, .unreachable, .undecided, .unreachable], true),
            ([.failed, .failed, .failed, .failed], false), ([.answered, .answered, .answered], false),
            // One caller alone, however often; then another one.
            ([.unanswered(caller: 1), .unanswered(caller: 1), .unanswered(caller: 1)], false),
            ([.unanswered(caller: 1), .unanswered(caller: 1), .unanswered(caller: 2)], true),
            ([.unanswered(caller: 1), .unanswered(caller: 2), .answered, .unanswered(caller: 1)], false),
            ([.unanswered(caller: 1), .unanswered(caller: 1), .unreachable], true),
        ] as [([CircuitBreaker.Outcome], Bool)])
    func `only failures that show that the backend is down open it`(row: ([CircuitBreaker.Outcome], Bool)) {
        var breaker = CircuitBreaker(Self.settings)
        for outcome in row.0 { #expect(Self.call(&breaker, outcome, at: 0)) }
        #expect((breaker.state == .open) == row.1)
        #expect(breaker.openings == (row.1 ? 1 : 0))
    }

    @Test func `while it is open nothing is called, and the refusal says for how long`() {
        var breaker = CircuitBreaker(Self.settings)
        for _ in 0..<3 { Self.call(&breaker, .unreachable, at: 100) }
        #expect(breaker.refusal(at: 100)?.retryAfter == 1_000 && breaker.refusal(at: 1_099)?.retryAfter == 1)
        #expect(!Self.call(&breaker, .answered, at: 1_099) && breaker.refusals == 1)
        #expect(breaker.refusal(at: 1_100) == nil)
        // A clock that was set back.
        #expect(breaker.refusal(at: 99) == nil)
    }

    @Test(
        arguments: [
            (.answered, .closed), (.failed, .closed), (.unreachable, .open), (.unanswered(caller: 1), .open),
            (.undecided, .halfOpen),
        ] as [(CircuitBreaker.Outcome, CircuitBreaker.State)])
    func `one trial decides, and the others wait for it`(
        outcome: CircuitBreaker.Outcome, state: CircuitBreaker.State
    ) throws {
        var breaker = CircuitBreaker(Self.settings)
        for _ in 0..<3 { Self.call(&breaker, .unreachable, at: 0) }
        let trial = try breaker.admit(at: 1_000)
        #expect(breaker.state == .halfOpen && breaker.refusal(at: 1_000)?.retryAfter == 1_000)
        breaker.end(trial, outcome, at: 1_500)
        #expect(breaker.state == state)
        #expect(breaker.refusal(at: 1_500)?.retryAfter == (state == .open ? 1_000 : nil))
    }

    @Test func `a call that began before the change decides nothing`() throws {
        var breaker = CircuitBreaker(Self.settings)
        let early = try (0..<4).map { _ in try breaker.admit(at: 0) }
        for permit in early.prefix(3) { breaker.end(permit, .unreachable, at: 0) }
        breaker.end(early[3], .answered, at: 0)
        #expect(breaker.state == .open)
        let trial = try breaker.admit(at: 1_000)
        breaker.end(early[3], .unreachable, at: 1_000)
        #expect(breaker.state == .halfOpen)
        breaker.end(trial, .answered, at: 1_000)
        #expect(breaker.state == .closed)
    }

    @Test func `with zero failures it never opens, and other settings close it`() {
        var breaker = CircuitBreaker(CircuitBreaker.Settings(failures: 0, openTime: 1_000, trials: 1))
        for _ in 0..<50 { #expect(Self.call(&breaker, .unreachable, at: 0)) }
        breaker.configure(Self.settings)
        for _ in 0..<3 { Self.call(&breaker, .unreachable, at: 0) }
        #expect(breaker.state == .open)
        breaker.configure(Self.settings)
        #expect(breaker.state == .closed && breaker.refusal(at: 0) == nil)
    }

    /// Many callers, a backend that goes down and comes back, and calls of any length, in random order.
    @Test(arguments: 0..<200)
    func `whatever happens, calls to a dead backend are few, and a living one is not kept from anyone for long`(
        seed: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let settings = CircuitBreaker.Settings(
            failures: Int.random(in: 1...6, using: &random), openTime: Int64.random(in: 100...2_000, using: &random),
            trials: Int.random(in: 1...3, using: &random))
        var course = BreakerCourse(settings: settings, random: random)
        for _ in 0..<3_000 { course.step() }
        #expect(course.complaints == [])
        #expect(course.breaker.openings > 0 && course.recoveries > 0, "the course must reach every state")
    }
}

/// A random course of calls, with what must hold all the time.
private struct BreakerCourse {
    private struct Running {
        let permit: CircuitBreaker.Permit
        let caller: Int
        let isTrial: Bool
        let endsAt: Instant
    }

    var breaker: CircuitBreaker
    var complaints: [String] = []
    var recoveries = 0
    private var random: SeededGenerator
    private var now: Instant = 1_000
    private var isDown = false
    private var changedAt: Instant = 1_000
    private var running: [Running] = []
    /// The calls that were made since the backend is down and were no trials.
    private var wasted = 0

    init(settings: CircuitBreaker.Settings, random: SeededGenerator) {
        breaker = CircuitBreaker(settings)
        self.random = random
    }

    mutating func step() {
        now += Int64.random(in: 0...20, using: &random)
        if Int.random(in: 0..<150, using: &random) == 0 {
            isDown.toggle()
            changedAt = now
            wasted = 0
        }
        end()
        begin()
        check()
    }

    private mutating func begin() {
        let wasOpen = breaker.state == .open
        guard let permit = try? breaker.admit(at: now) else { return }
        let isTrial = breaker.state == .halfOpen
        if wasOpen, !isTrial { complaints.append("a call went through an open breaker") }
        if isDown, !isTrial { wasted += 1 }
        running.append(
            Running(
                permit: permit, caller: Int.random(in: 0..<3, using: &random), isTrial: isTrial,
                endsAt: now + Int64.random(in: 0...60, using: &random)))
    }

    private mutating func end() {
        for call in running where call.endsAt <= now {
            let before = breaker.state
            breaker.end(call.permit, outcome(of: call), at: now)
            if before == .halfOpen, breaker.state == .closed { recoveries += 1 }
        }
        running.removeAll { $0.endsAt <= now }
    }

    private mutating func outcome(of call: Running) -> CircuitBreaker.Outcome {
        if Int.random(in: 0..<20, using: &random) == 0 { return .undecided }
        if !isDown { return Int.random(in: 0..<10, using: &random) == 0 ? .failed : .answered }
        return Bool.random(using: &random) ? .unreachable : .unanswered(caller: call.caller)
    }

    private mutating func check() {
        let trials = running.count { $0.isTrial }
        if breaker.state == .halfOpen, trials > breaker.settings.trials {
            complaints.append("\(trials) trials at once")
        }
        if let refusal = breaker.refusal(at: now), refusal.retryAfter > max(1_000, breaker.settings.openTime) {
            complaints.append("a wait of \(refusal.retryAfter) ms")
        }
        // Long after the change, when no call of before runs any more.
        let isLongAgo = now.milliseconds(since: changedAt) > breaker.settings.openTime + 1_500
        if isLongAgo, !isDown, breaker.state != .closed { complaints.append("a living backend is kept from callers") }
        if isLongAgo, isDown, breaker.state == .closed { complaints.append("a dead backend is called") }
        if isDown, wasted > 60 { complaints.append("\(wasted) calls to a dead backend") }
    }
}
