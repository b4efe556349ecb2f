// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// What only operators ask, for all kinds of stores.
@Suite struct InspectionTests {
    @Test(.eachStore) func `a damaged row that each sync reads is found`() async throws {
        try await store.inspection.checkEpochs()
        var changes = RowChanges()
        changes.rows[StateEpochs.key] = ByteRow(key: StateEpochs.key, version: 1, bytes: [1, 2])
        try await store.commit(changes)
        await #expect(throws: StateError.corrupt("the row 'epochs' cannot be read")) {
            try await store.inspection.checkEpochs()
        }
        let damage = try await store.inspection.damage { _ in true }
        #expect(damage == [.entry: 1])
    }

    /// Writes bytes that are no head in place of one.
    private static func damage(_ key: RowKey, in store: Accounts) async throws {
        let row = try #require(await store.store.load([.row(key)])[0].first)
        var changes = RowChanges()
        changes.rows[key] = ByteRow(key: key, version: 99, number: row.number, rank: row.rank, bytes: [1, 2])
        try await store.commit(changes)
    }

    @Test(.eachStore) func `a replica whose head is damaged is listed as such, named to its device, and forgotten`()
        async throws
    {
        for number: Int64 in 1...2 { try await store.begin(row(number, replica: number)) }
        try await Self.damage(RowKey(.replica, of: alice.owner, number: 1), in: store)
        let other = Accounts(store.store)
        for list in [
            try await other.inspection.replicas(of: nil, after: nil, limit: 9),
            try await other.inspection.replicasByContact(of: alice, after: nil, limit: 9),
        ] {
            let results = Dictionary(uniqueKeysWithValues: list.map { ($0.id.rawValue, $0.lastResult) })
            #expect(results.count == 2 && results[1] == "state.corrupt" && results[2] != "state.corrupt")
        }
        let context = try await other.context(1)
        #expect(context.row == nil && context.damaged?.rawValue == 1)
        #expect(try await other.context(2).damaged == nil)
        #expect(try await other.change(alice) { try ReplicaRules.forget(ReplicaID(rawValue: 1), at: now, in: &$0) })
        #expect(try await other.store.load([.named(.cursor, 1)])[0].isEmpty)
        #expect(try await other.inspection.replicas(of: nil, after: nil, limit: 9).map(\.id.rawValue) == [2])
        #expect(try await !other.change(alice) { try ReplicaRules.forget(ReplicaID(rawValue: 1), at: now, in: &$0) })
    }

    @Test(.eachStore) func `a user whose head is damaged is not taken for an unknown one`() async throws {
        try await store.begin(row(1))
        try await store.begin(row(2, of: bob, replica: 2))
        try await Self.damage(RowKey(.principal, of: alice.owner), in: store)
        let other = Accounts(store.store)
        let all = try await other.inspection.replicas(of: nil, after: nil, limit: 9)
        #expect(all.map(\.principal.owner) == [alice.owner, bob.owner])
        let hers = try await other.inspection.replicas(of: alice, after: nil, limit: 9)
        #expect(hers.map(\.id.rawValue) == [1] && hers.first?.isDamaged == false)
        for body in [
            { _ = try await other.commands.distrust(because: .backend, of: alice, at: now) },
            { try await other.begin(row(3, replica: 3)) },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: StateError.self) { try await body() }
            #expect(error?.code == "state.corrupt" && error?.description.contains("a11ce") == true)
        }
        #expect(try await other.inspection.replicas(of: bob, after: nil, limit: 9).count == 1)
    }

    @Test(.eachStore) func `a damaged scope keeps a command from no other scope of its user`() async throws {
        for (number, scope) in Self.scopes.enumerated() {
            try await store.begin(row(Int64(number + 1), of: scope, replica: Int64(number + 1)))
        }
        try await Self.damage(RowKey(.principal, of: Self.scopes[0].owner), in: store)
        let other = Accounts(store.store)
        await #expect(throws: StateError.self) {
            _ = try await other.commands.distrust(because: .backend, of: Self.ada, at: now)
        }
        #expect(try await other.context(2, of: Self.scopes[1]).distrustedAt > 0)
        #expect(try await other.inspection.replicas(of: Self.ada, after: nil, limit: 9).count == 2)
    }

    @Test(.eachStore) func `a damaged line stops nobody, is listed and dropped, and goes with any user`() async throws {
        let line = QuarantinedLine(reason: .invalidJSON, bytes: [1])
        func damagedLine() async throws -> RowKey {
            let key = try #require(try await store.store.rows(.all(.line, limit: 9)).first?.key)
            try await Self.damage(key, in: store)
            return key
        }
        try await store.begin(row(1), quarantined: [line])
        _ = try await damagedLine()
        let listed = try await store.inspection.quarantined(limit: 9)
        #expect(listed.map(\.line.type) == ["state.corrupt"])
        #expect(try await store.commands.dropLines(listed.map(\.id)).count == 1)
        try await store.begin(row(2, replica: 2), quarantined: [line])
        _ = try await damagedLine()
        try await store.begin(row(3, replica: 3), quarantined: [line])
        #expect(try await store.inspection.quarantined(limit: 9).map(\.principal) == [alice])
        _ = try await damagedLine()
        #expect(try await store.commands.erase(bob)["line"] == 1)
    }

    @Test(.eachStore)
    func `damaged records and journals are listed with the others, and records are dropped`() async throws {
        let (damaged, sound) = (Self.scopes[1], Self.ada)
        try await Self.fill(damaged, number: 1)
        try await Self.fill(sound, number: 2)
        for kind in [RowKind.push, .journal] {
            let key = try #require(try await store.store.load([.all(kind, of: damaged.owner)])[0].first?.key)
            try await Self.damage(key, in: store)
        }
        let other = Accounts(store.store)
        let pushes = try await other.inspection.quarantinedPushes(of: nil, after: 0, limit: 9)
        #expect(pushes.map(\.push.reason.code) == ["state.corrupt", "push.rejected"])
        #expect(pushes.map(\.push.key.id) == ["1", "1"] && pushes.map(\.principal) == [damaged, sound])
        let journals = try await other.inspection.journals(of: nil, after: 0, limit: 9)
        #expect(journals.map(\.failure?.code) == ["state.corrupt", nil] && journals.allSatisfy { $0.state == .open })
        #expect(try await other.commands.dropPushes([pushes[0].id]) == [pushes[0].id])
        #expect(try await other.context(1, of: damaged).hasQuarantined == false)
        // What belongs to a user whose head is damaged is listed as well.
        try await Self.damage(RowKey(.principal, of: sound.owner), in: store)
        let last = Accounts(store.store)
        let left = try await last.inspection.quarantinedPushes(of: nil, after: 0, limit: 9)
        #expect(left.map(\.principal.owner) == [sound.owner])
        await #expect(throws: StateError.self) { _ = try await last.commands.dropPushes(left.map(\.id)) }
        // The others of a list are marked all the same.
        try await Self.fill(bob, number: 3)
        await #expect(throws: StateError.self) { _ = try await last.commands.scheduleRetries(nil, of: nil, at: now) }
        #expect(try await last.context(3, of: bob).unfinished.hasScheduledRetries)
    }

    @Test(.eachStore, arguments: [RowKind.session, .move])
    func `a device whose session or move is damaged goes on`(kind: RowKind) async throws {
        try await store.begin(row(1), position: CheckpointVector(["a": "b"]))
        for row in try await store.store.load([.all(kind, of: alice.owner)])[0] {
            try await Self.damage(row.key, in: store)
        }
        let other = Accounts(store.store)
        let context = try await other.context(1)
        #expect(context.row != nil && context.session.position == .unknown)
        try await other.proceed(row(2, parent: 1), position: CheckpointVector(["a": "c"]))
        #expect(try await other.context(2).session.position == .at(CheckpointVector(["a": "c"])))
    }

    @Test(.eachStore, arguments: RowKind.allCases.filter { $0.isCoded })
    func `a user of whom anything is damaged is erased`(kind: RowKind) async throws {
        let limits = StateLimits.with { $0.headBytes = 1 }
        let store = Accounts(store.store, limits: limits)
        try await store.begin(row(1), [1: 1])
        for value: Int64 in 2...40 { try await store.proceed(row(value, parent: value - 1), [1: UInt8(value)]) }
        try await Self.fill(alice, number: 50)
        for number: Int64 in 0..<2 {
            let key = RowKey(kind, of: alice.owner, number: 900 + number)
            guard try await store.store.load([.row(key)])[0].isEmpty else { continue }
            var changes = RowChanges()
            changes.rows[key] = ByteRow(key: key, version: 99, number: 900 + number, bytes: [1, 2])
            if ![.line, .staged, .replica, .principal, .pushBody].contains(kind) { try await store.commit(changes) }
        }
        func rows(_ kind: RowKind, in store: Accounts) async throws -> [ByteRow] {
            let lookup: Lookup =
                switch kind {
                case .principal: .row(RowKey(kind, of: alice.owner))
                case .cursor: .numbered(kind, of: alice.owner, after: .min, limit: 9, descending: false)
                default: .all(kind, of: alice.owner)
                }
            return try await store.store.load([lookup])[0]
        }
        for row in try await rows(kind, in: store) { try await Self.damage(row.key, in: store) }
        let other = Accounts(store.store, limits: limits)
        _ = try await other.commands.erase(alice)
        for kind in RowKind.allCases where kind != .chunk && kind != .staged {
            #expect(try await rows(kind, in: other).isEmpty, "\(kind)")
        }
    }

    @Test(.eachStore) func `principals are found by the first digits of their digests`() async throws {
        for (number, digest) in ["0a", "a11ce", "a11cf", "a2", "ff", "fff"].enumerated() {
            let number = Int64(number + 1)
            try await store.begin(row(number, of: Principal(rawValue: digest), replica: number))
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

    @Test(.eachStore) func `users that have only scopes are found as the others are`() async throws {
        let users = ["a0", "a1", "a2", "b0"]
        var number: Int64 = 0
        for user in users {
            for scope in 0..<3 {
                number += 1
                let origin = Principal.Origin(user: user, scope: "path.id=\(scope)")
                let principal = Principal(rawValue: "5c\(user)\(scope)", origin: origin)
                try await store.begin(row(number, of: principal, replica: number))
            }
        }
        for (digits, limit, count) in [("a", 9, 3), ("a", 3, 3), ("a", 2, 2), ("a", 1, 1), ("a2", 1, 1), ("c", 9, 0)] {
            let found = try await store.inspection.principals(beginningWith: digits, limit: limit).map(\.rawValue)
            #expect(found == Array(users.filter { $0.hasPrefix(digits) }.prefix(count)))
        }
    }

    private static let ada = Principal(rawValue: "ada0")
    private static let scopes = ["path.id=7", "path.id=8&query.x=%C3%B6"].enumerated().map { number, scope in
        Principal(rawValue: "5c0\(number)", origin: Principal.Origin(user: ada.rawValue, scope: scope))
    }

    /// A pull, a trouble, a refusal and an open journal of a principal.
    private static func fill(_ principal: Principal, number: Int64) async throws {
        // Equal lines are one entry, of whoever has had it last.
        let lines = principal == scopes[1] ? [QuarantinedLine(reason: .invalidJSON, bytes: [1])] : []
        try await store.begin(row(number, of: principal, replica: number), quarantined: lines)
        try await store.trouble(.push, number, count: 9)
        let refused = QuarantinedOperation(
            key: PushedRecordKey(table: "t", id: "1"), kind: .create, body: [],
            reason: QuarantinedOperation.Reason(code: "push.rejected"))
        try await store.quarantine([refused], of: principal)
        try await store.beginJournal(of: principal)
    }

    @Test(.eachStore) func `a user is found with all their scopes, and each is told by its text`() async throws {
        let (ada, scopes) = (Self.ada, Self.scopes)
        for (number, principal) in (scopes + [bob]).enumerated() {
            try await Self.fill(principal, number: Int64(number + 1))
        }
        let inspection = store.inspection
        for (user, expected) in [(ada, scopes), (scopes[0], [scopes[0]]), (bob, [bob])] {
            let found = [
                try await inspection.replicas(of: user, after: nil, limit: 9).map(\.principal),
                try await inspection.replicasByContact(of: user, after: nil, limit: 9).map(\.principal),
                try await inspection.quarantinedPushes(of: user, after: 0, limit: 9).map(\.principal),
                try await inspection.journals(of: user, after: 0, limit: 9).map(\.principal),
            ]
            for list in found {
                #expect(list.map(\.rawValue).sorted() == expected.map(\.rawValue).sorted())
                #expect(list.allSatisfy { one in expected.contains { $0 == one && $0.origin == one.origin } })
            }
        }
        let lines = try await inspection.quarantinedLines(of: ada, after: 0, limit: 9)
        #expect(lines.map(\.principal.scope) == [scopes[1].scope])
        #expect(try await inspection.quarantinedLines(of: scopes[0], after: 0, limit: 9).isEmpty)
        #expect(try await inspection.principals(beginningWith: "ada0", limit: 9) == [ada])
        let first = try await inspection.principals(beginningWith: "5c00", limit: 9)
        #expect(first.map(\.origin) == [scopes[0].origin])
        let rule = StuckRule(repeats: 1, pushes: 1, time: 0)
        let stuck = try await inspection.stuckDevices(by: rule, since: 0, limit: 9)
        #expect(stuck.allSatisfy { trouble in (scopes + [bob]).contains { $0.origin == trouble.principal.origin } })
        #expect(try await store.commands.scheduleRetries(nil, of: ada, at: now).count == 2)
        // A cursor of one scope is unknown in another.
        #expect(try await store.context(1, of: scopes[1]).row == nil)
    }
}
