// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayTesting
import MemoryState
import NIOConcurrencyHelpers
import StateStore
import SyncModel
import Testing

/// Changes of one login that wait for their turn, since others have overtaken them.
@Suite struct TurnTests {
    /// A change, whose task makes it.
    private final class Change: Sendable {
        @TaskLocal static var current: Change?
        /// True if it stops at the beginning of its turn.
        let isHeld: Bool
        /// The number of its commits.
        let commits = NIOLockedValueBox(0)

        init(isHeld: Bool) { self.isHeld = isHeld }

        var isOvertaken: Bool { commits.withLockedValue(\.self) >= 3 }
    }

    /// The commits in their turn that run at the same time.
    private struct Commits {
        var running = 0
        var most = 0
        /// The change that is held at the beginning of its turn.
        var held: CheckedContinuation<Void, Never>?
        /// The number of changes that have been held.
        var count = 0
    }

    @Test(arguments: [true, false])
    func `what waits goes on at once if the store fails, and one after the other if a rule throws`(
        _ storeFails: Bool
    ) async throws {
        let (bytes, executor, commits) = (MemoryBytes(), SeededExecutor(seed: 1), NIOLockedValueBox(Commits()))
        let other = Accounts(bytes)
        let own = Accounts(
            bytes.shared { moment in
                guard let change = Change.current else { return }
                switch moment {
                case .beforeReading:
                    guard change.isHeld, change.isOvertaken, commits.withLockedValue({ $0.count == 0 }) else { return }
                    await withCheckedContinuation { held in
                        commits.withLockedValue { ($0.held, $0.count) = (held, 1) }
                    }
                    if storeFails { throw StateError.full }
                case .beforeWriting:
                    let number = change.commits.withLockedValue { count in
                        count += 1
                        return count
                    }
                    if number <= 3 { return try await other.write([PushNote(table: "t", id: "o", state: .held)]) }
                    commits.withLockedValue { ($0.running, $0.most) = ($0.running + 1, max($0.most, $0.running + 1)) }
                    for _ in 0..<20 { await Task.yield() }
                case .afterWriting:
                    if change.commits.withLockedValue({ $0 > 3 }) { commits.withLockedValue { $0.running -= 1 } }
                }
            })
        let errors = NIOLockedValueBox<[StateError?]>([])
        func begin(isHeld: Bool) {
            let change = Change(isHeld: isHeld)
            Task(executorPreference: executor) {
                await Change.$current.withValue(change) {
                    do {
                        try await own.change(alice) { account in
                            if isHeld, change.isOvertaken { throw StateError.journalClosed }
                            try NoteRules.write([PushNote(table: "t", id: "n", state: .held)], at: now, in: &account)
                        }
                        errors.withLockedValue { $0.append(nil) }
                    } catch { errors.withLockedValue { $0.append(error as? StateError) } }
                }
            }
            while executor.step() {}
        }
        begin(isHeld: true)
        let held = try #require(commits.withLockedValue { $0.held })
        for _ in 0..<3 { begin(isHeld: false) }
        #expect(errors.withLockedValue { $0.isEmpty })
        held.resume()
        while executor.step() {}
        let failure = storeFails ? StateError.full : .journalClosed
        #expect(errors.withLockedValue(\.self) == [failure, nil, nil, nil])
        #expect(commits.withLockedValue(\.most) == (storeFails ? 3 : 1))
    }
}
