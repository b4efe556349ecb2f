// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// What only operators ask, for all kinds of stores.
@Suite struct InspectionTests {
    @Test(arguments: StateBacking.all)
    func `principals are found by the first digits of their digests`(backing: StateBacking) async throws {
        try await backing { store in
            let digests = ["0a", "a11ce", "a11cf", "a2", "ff", "fff"]
            for (number, digest) in digests.enumerated() {
                let principal = Principal(rawValue: digest)
                try await store.begin(row(Int64(number + 1), of: principal, replica: Int64(number + 1)))
            }
            func found(_ digits: String, limit: Int = 9) async throws -> [String] {
                try await store.inspection.principals(beginningWith: digits, limit: limit).map(\.rawValue)
            }
            #expect(try await found("a1") == ["a11ce", "a11cf"])
            #expect(try await found("a") == ["a11ce", "a11cf", "a2"])
            #expect(try await found("ff") == ["ff", "fff"])
            #expect(try await found("a11ce") == ["a11ce"])
            #expect(try await found("a11ce0").isEmpty)
            #expect(try await found("a", limit: 2) == ["a11ce", "a11cf"])
            #expect(try await found("a", limit: -1).isEmpty)
            for digits in ["", "a\u{0}"] {
                await #expect(throws: StateError.invalid("principal")) { _ = try await found(digits) }
            }
        }
    }

    @Test(arguments: StateBacking.all)
    func `a user is found with all their scopes, and each is told by its text`(backing: StateBacking) async throws {
        try await backing { store in
            let ada = Principal(rawValue: "ada0")
            let scopes = ["path.id=7", "path.id=8&query.x=%C3%B6"].enumerated().map { number, scope in
                Principal(rawValue: "5c0\(number)", origin: Principal.Origin(user: ada.rawValue, scope: scope))
            }
            let line = QuarantinedLine(reason: .invalidJSON, bytes: [1])
            let refused = QuarantinedOperation(
                key: PushedRecordKey(table: "t", id: "1"), kind: .create, body: [],
                reason: QuarantinedOperation.Reason(code: "push.rejected"))
            for (number, principal) in (scopes + [bob]).enumerated() {
                let number = Int64(number + 1)
                var commit = PullCommit(
                    row: try row(number, of: principal, replica: number), replica: .new, now: now)
                // Equal lines are one entry, of whoever has had it last.
                if principal == scopes[1] { commit.quarantined = [line] }
                try await store.commit(commit)
                _ = try await store.change(alice) {
                    try TroubleRules.note(
                        DeviceTrouble(
                            replica: ReplicaID(rawValue: number), principal: alice, kind: .push, count: 9, since: now,
                            lastAt: now, code: "x"), in: &$0)
                }
                _ = try await store.change(principal) { try QuarantineRules.add([refused], limit: 9, at: now, in: &$0) }
                _ = try await store.change(principal) {
                    try JournalRules.begin(JournalOpening(presented: nil, operations: 1, notes: []), at: now, in: &$0)
                }
            }
            func check(_ of: Principal?, _ expected: [Principal]) async throws {
                let found = [
                    try await store.inspection.replicas(of: of, after: nil, limit: 9).map(\.principal),
                    try await store.inspection.replicasByContact(of: of, after: nil, limit: 9).map(\.principal).sorted {
                        $0.rawValue < $1.rawValue
                    },
                    try await store.inspection.quarantinedPushes(of: of, after: 0, limit: 9).map(\.principal),
                    try await store.inspection.journals(of: of, after: 0, limit: 9).map(\.principal),
                ]
                for list in found {
                    #expect(list.map(\.rawValue).sorted() == expected.map(\.rawValue).sorted())
                    #expect(list.allSatisfy { one in expected.contains { $0 == one && $0.origin == one.origin } })
                }
            }
            try await check(ada, scopes)
            try await check(scopes[0], [scopes[0]])
            try await check(bob, [bob])
            #expect(
                try await store.inspection.quarantinedLines(of: ada, after: 0, limit: 9).map(\.principal.scope) == [
                    scopes[1].scope
                ])
            #expect(try await store.inspection.quarantinedLines(of: scopes[0], after: 0, limit: 9).isEmpty)
            #expect(try await store.inspection.principals(beginningWith: "ada0", limit: 9) == [ada])
            #expect(
                try await store.inspection.principals(beginningWith: "5c00", limit: 9).map(\.origin) == [
                    scopes[0].origin
                ])
            let rule = StuckRule(repeats: 1, pushes: 1, time: 0)
            let stuck = try await store.inspection.stuckDevices(by: rule, since: 0, limit: 9)
            #expect(stuck.allSatisfy { trouble in (scopes + [bob]).contains { $0.origin == trouble.principal.origin } })
            #expect(try await store.commands.scheduleRetries(nil, of: ada, at: now).count == 2)
            // A cursor of one scope is unknown in another.
            #expect(
                try await store.read(scopes[1]) {
                    try ContextRule.context(of: &$0, session: phone, presented: cursor(1))
                }.row == nil)
        }
    }
}
