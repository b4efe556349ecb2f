// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import Testing

@testable import Gateway

/// Writing the journal of a push whose calls run at the same time.
@Suite struct JournalWriterTests {
    @Test func `every step is written once, and before its caller goes on`() async throws {
        let journals = RecordingJournals()
        let writer = JournalWriter { try await journals.advance($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<50 {
                group.addTask {
                    for number in 0..<20 {
                        var step = JournalStep()
                        step.applied = [caller * 100 + number]
                        try await writer.write(step)
                        #expect(journals.applied.contains(caller * 100 + number))
                    }
                }
            }
            try await group.waitForAll()
        }
        let applied = journals.applied
        #expect(applied.count == 1_000 && Set(applied).count == 1_000)
        // Of each caller's steps none has overtaken another.
        for caller in 0..<50 {
            let own = applied.filter { $0 / 100 == caller }
            #expect(own == own.sorted())
        }
        #expect(!journals.wasTwiceAtOnce)
    }

    @Test func `callers whose steps are in one transaction get its error, and the others go on`() async throws {
        let journals = RecordingJournals(failing: 13)
        let writer = JournalWriter { try await journals.advance($0) }
        let failed = await withTaskGroup(of: Int?.self) { group in
            for caller in 0..<50 {
                group.addTask {
                    var step = JournalStep()
                    step.applied = [caller]
                    do {
                        try await writer.write(step)
                        return nil
                    } catch {
                        return caller
                    }
                }
            }
            return await group.reduce(into: Set<Int>()) { if let caller = $1 { $0.insert(caller) } }
        }
        #expect(failed.contains(13))
        #expect(failed.isDisjoint(with: journals.applied) && failed.union(journals.applied) == Set(0..<50))
    }
}

/// Keeps what is written to one journal, and takes its time for it.
private final class RecordingJournals: Sendable {
    private struct Written {
        var applied: [Int] = []
        var isWriting = false
        var wasTwiceAtOnce = false
    }

    private let written = NIOLockedValueBox(Written())
    /// The operation whose transaction fails.
    private let failing: Int?

    init(failing: Int? = nil) { self.failing = failing }

    var applied: [Int] { written.withLockedValue { $0.applied } }
    var wasTwiceAtOnce: Bool { written.withLockedValue { $0.wasTwiceAtOnce } }

    func advance(_ step: JournalStep) async throws {
        written.withLockedValue {
            if $0.isWriting { $0.wasTwiceAtOnce = true }
            $0.isWriting = true
        }
        for _ in 0..<20 { await Task.yield() }
        let isFailing = failing.map { step.applied.contains($0) } ?? false
        written.withLockedValue {
            $0.isWriting = false
            if !isFailing { $0.applied += step.applied }
        }
        if isFailing { throw StateError.journalClosed }
    }
}
