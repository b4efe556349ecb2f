// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import Testing

/// The store that a test with the trait ``StoresTrait`` runs over.
var store: Accounts {
    guard let store = StoresTrait.store else { preconditionFailure("Only tests over each store have one.") }
    return store
}

/// Runs a test over several kinds of stores, one after the other: it finds each in ``store``, empty.
struct StoresTrait: TestTrait, TestScoping {
    @TaskLocal fileprivate static var store: Accounts?

    let backings: [StateBacking]
    let limits: StateLimits

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for backing in backings {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("over \(backing.testDescription)")
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase) {
                do {
                    try await backing.withStore(limits) { try await Self.$store.withValue($0, operation: function) }
                } catch {
                    // Recorded here, because what is thrown further says nothing of the store.
                    Issue.record(error, sourceLocation: test.sourceLocation)
                }
            }
        }
    }
}

extension Trait where Self == StoresTrait {
    static var eachStore: Self { eachStore(StateLimits()) }

    /// The stores that several gateways may share.
    static var sharedStores: Self { Self(backings: StateBacking.shared, limits: StateLimits()) }

    static var eachByteStore: Self { Self(backings: StateBacking.bytes, limits: StateLimits()) }

    static func eachStore(_ limits: StateLimits) -> Self { Self(backings: StateBacking.all, limits: limits) }
}
