// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// Does the same random things to a reference and to another store, and compares everything that they answer.
///
/// Numbers that a store chooses for layers and quarantined entries are its own: those are compared by what they say.
struct StoreTrial {
    private static let principals = [
        alice, bob,
        Principal(rawValue: "ca401", origin: Principal.Origin(user: alice.rawValue, scope: "path.id=7")),
    ]
    private static let sessions = [phone, tablet]
    private static let hour: Int64 = 3_600_000

    let reference: Accounts
    private(set) var other: Accounts
    private var random: SeededGenerator
    private var time = now
    private var newest = now.milliseconds
    private var cursors: [(principal: Principal, cursor: Cursor, replica: ReplicaID)] = []
    private var journals: [(principal: Principal, id: Int64)] = []
    private(set) var agreed = 0
    /// True if the other store was opened since the last collection: how long its process ran is unknown then.
    private var isOpenedAnew = false

    init(reference: Accounts, other: Accounts, seed: UInt64) {
        (self.reference, self.other) = (reference, other)
        random = SeededGenerator(seed: seed)
    }

    /// Calls both stores, which must come to the same; nil where that is an error.
    @discardableResult
    private mutating func both<T: Hashable & Sendable>(
        _ name: String, _ call: (Accounts) async throws -> T
    ) async throws -> T? {
        let (expected, found) = (try await TrialOutcome(reference, call), try await TrialOutcome(other, call))
        try #require(found == expected, "\(name)")
        agreed += 1
        guard case .value(let value) = found else { return nil }
        return value
    }

    /// Goes on with another store, which has a copy of the other one's state but for the positions.
    mutating func goOn(with store: Accounts) async throws {
        other = store
        isOpenedAnew = true
        for principal in Self.principals {
            for session in Self.sessions {
                let known = try await reference.read(principal) {
                    try ContextRule.context(of: &$0, session: session, presented: nil)
                }
                guard known.session.position != .unknown else { continue }
                try await reference.change(principal) {
                    try SessionRules.setPosition(.unknown, of: session, at: now, in: &$0)
                }
            }
        }
    }

    /// Changes both by a rule.
    private mutating func change<T>(
        _ name: String, _ principal: Principal, _ rule: (inout Account) throws -> T
    ) async throws {
        try await run(name) { try await $0.change(principal, rule) }
    }

    /// Changes both by a rule, whose outcome must be the same.
    @discardableResult
    private mutating func changed<T: Hashable & Sendable>(
        _ name: String, _ principal: Principal, _ rule: (inout Account) throws -> T
    ) async throws -> T? {
        try await both(name) { try await $0.change(principal, rule) }
    }

    /// Asks both.
    private mutating func seen<T: Hashable & Sendable>(
        _ name: String, _ principal: Principal, _ rule: (inout Account) throws -> T
    ) async throws {
        try await both(name) { try await $0.look(principal, rule) }
    }

    private mutating func run(_ name: String, _ call: (Accounts) async throws -> Void) async throws {
        try await both(name) { store in
            try await call(store)
            return true
        }
    }

    private mutating func pick<T>(_ values: [T]) throws -> T { try #require(values.randomElement(using: &random)) }

    private mutating func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &random) == 0 }

    private mutating func records() throws -> [PushedRecordKey] {
        try (0..<Int.random(in: 1...3, using: &random)).map { _ in
            PushedRecordKey(table: try pick(["tasks", "notes"]), id: try pick(["a", "b", "é", "e\u{301}"]))
        }
    }

    /// One random change, after which what anybody can ask is compared.
    mutating func step() async throws {
        time += Int64.random(in: 0...Self.hour / 10, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3: try await pull()
        case 4: try await changeSession()
        case 5...6: try await push()
        case 7: try await changeJournal()
        case 8: try await changeQuarantine()
        case 9: try await changeNotes()
        case 10: try await changeReplica()
        default: try await collect()
        }
        try await compare()
    }

    private mutating func pull() async throws {
        newest += Int64.random(in: 1...9, using: &random)
        let known = try cursors.isEmpty || chance(4) ? nil : pick(cursors)
        let principal = try known?.principal ?? pick(Self.principals)
        let session = try pick(Self.sessions)
        let context = try await other.read(principal) {
            try ContextRule.context(of: &$0, session: session, presented: known?.cursor)
        }
        if let known {
            try await change("confirm", principal) { [time] in try ReplicaRules.confirm(known.cursor, at: time, in: &$0)
            }
        }
        let isNew = context.row == nil || context.isFork || chance(10)
        let replica = isNew ? ReplicaID(rawValue: newest) : context.row?.replica ?? ReplicaID(rawValue: newest)
        let row = CursorRow(
            principal: principal, cursor: try cursor(newest), replica: replica,
            parent: isNew ? nil : known?.cursor,
            vector: CheckpointVector(["a": "\(Int64.random(in: 1...5, using: &random))"]),
            schemaVersion: chance(2) ? 3 : nil, session: session,
            generation: context.session.generation - (chance(12) ? 1 : 0), mappingDigest: "m", noted: context.sequence,
            comparisons: chance(2) ? ["A": FullComparison(doneAt: time, mapping: "m")] : [:],
            ids: VisibleIDs(sequence: context.idSequence + (chance(12) ? 1 : 0)))
        let entries = Entries(
            (0..<Int.random(in: 0...5, using: &random)).map { _ in
                (UInt8.random(in: 1...40, using: &random), UInt8.random(in: 1...9, using: &random))
            }, uniquingKeysWith: { $1 })
        let line = QuarantinedLine(reason: .noID, type: try pick(["A", "B", "C"]), bytes: [1])
        let lines = chance(4) ? [line] : []
        let hasLedger = !chance(6)
        let acceptedAt = chance(3) ? time : nil
        let result: Bool? = try await both("commit") { [time] store in
            let before = try await store.read(principal) {
                try ContextRule.context(of: &$0, session: session, presented: known?.cursor)
            }
            try await store.commit(
                PullCommit(
                    row: row, replica: isNew ? .new : .existing, quarantined: lines, now: time,
                    unconfirmedReplicas: 3, ledger: hasLedger ? TestLedger.commit(entries) : .none,
                    ledgersRead: isNew ? [:] : before.ledger.map { [$0.replica: $0.version] } ?? [:],
                    acceptedAt: acceptedAt))
            return true
        }
        if result == true { cursors.append((principal, row.cursor, replica)) }
        newest = max(newest, cursors.last?.cursor.rawValue ?? now.milliseconds)
    }

    private mutating func changeSession() async throws {
        let (principal, session) = (try pick(Self.principals), try pick(Self.sessions))
        let vector = CheckpointVector(["a": "\(Int64.random(in: 1...5, using: &random))"])
        let position: Position = chance(2) ? .unknown : .at(vector)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            try await changed("raise", principal) { [time] in
                try SessionRules.raiseGeneration(of: session, at: time, in: &$0)
            }
        case 1:
            try await both("distrust") { [time] in try await $0.commands.distrust(because: .state, of: nil, at: time) }
        case 2:
            try await change("accepted", principal) { [time] in
                try SessionRules.markAccepted(session, at: time, in: &$0)
            }
        default:
            try await change("position", principal) { [time] in
                try SessionRules.setPosition(position, of: session, at: time, in: &$0)
            }
        }
    }

    private mutating func push() async throws {
        let principal = try pick(Self.principals)
        let digest = try pick(["d1", "d2", "d3"])
        let receipt = Receipt(status: 200, contentType: "a/b", body: [UInt8.random(in: 0...9, using: &random)])
        let mappings = try records().map {
            IDMapping(table: $0.table, clientID: $0.id, backendID: try pick(["1", "2"]), mayBeBackends: chance(5))
        }
        let replica = try cursors.isEmpty || chance(2) ? nil : pick(cursors).replica
        let (version, life) = (Int.random(in: 1...4, using: &random), Int64.random(in: 1...Self.hour, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            try await change("receipt", principal) { [time] in
                try ReceiptRules.save(
                    .init(receipt: receipt, digest: digest, expiresAt: time + life), at: time, in: &$0)
            }
        case 1: try await change("drop receipts", principal) { try ReceiptRules.drop(in: &$0) }
        case 2:
            try await changed("mappings", principal) { [time] in try IDRules.save(mappings, at: time, in: &$0) }
        case 3:
            try await changed("pushed version", principal) {
                try ReplicaRules.notePushed(version, by: replica, in: &$0)
            }
        default:
            let opening = JournalOpening(presented: nil, operations: 9, notes: try notes())
            let journal = try await changed("begin", principal) { [time] in
                try JournalRules.begin(opening, at: time, in: &$0)
            }
            journals += journal.map { [(principal, $0)] } ?? []
        }
    }

    private mutating func notes() throws -> [PushNote] {
        try records().map {
            PushNote(
                table: $0.table, id: try pick(["a", "b", "c"]), state: try pick(PushNote.State.allCases),
                links: chance(2) ? [7] : [], shape: 3)
        }
    }

    private mutating func changeJournal() async throws {
        let (principal, journal) = journals.isEmpty || chance(9) ? (alice, 99) : try pick(journals)
        var step = JournalStep()
        if chance(2) { step.applied = [Int.random(in: 0...3, using: &random)] }
        if chance(4) { step.rejected = [Int.random(in: 0...3, using: &random)] }
        if chance(2) { step.notes = try notes() }
        for record in try records() where chance(2) {
            step.inFlight.append(
                InFlightOperation(
                    index: Int.random(in: 0...3, using: &random), kind: .create, record: record, makesID: chance(2),
                    request: chance(2) ? .init(method: "POST", target: "/t", body: [1], key: "k") : nil, sought: [2]))
        }
        var closure = JournalClosure()
        closure.lost = Int.random(in: 0...1, using: &random)
        closure.mappings = chance(2) ? [IDMapping(table: "tasks", clientID: "z", backendID: "9")] : []
        let end = JournalEnd(
            step: step, failure: chance(2) ? .init(code: "push.failed", record: try records().first) : nil,
            unknown: chance(2) ? [0, 1] : [])
        let index = Int.random(in: 0...3, using: &random)
        let (progress, outcome) = (step, closure)
        switch Int.random(in: 0..<6, using: &random) {
        case 0...1:
            try await change("advance", principal) { [time] in
                try JournalRules.advance(progress, of: journal, at: time, in: &$0)
            }
        case 2:
            try await change("end", principal) { [time] in try JournalRules.end(end, of: journal, at: time, in: &$0) }
        case 3:
            try await change("close", principal) { [time] in
                try JournalRules.close(journal, with: outcome, at: time, in: &$0)
            }
        case 4:
            try await change("give up", principal) { try JournalRules.giveUp(index, of: journal, in: &$0) }
        default:
            try await both("count try") { [time] in
                let (tries, since) = try await $0.change(principal) {
                    try JournalRules.countTry(of: journal, at: time, in: &$0)
                }
                return [Int64(tries), since.milliseconds]
            }
        }
    }

    private mutating func changeQuarantine() async throws {
        let principal = try pick(Self.principals)
        let keys = try records()
        let reason = QuarantinedOperation.Reason(code: "push.rejected", status: 422, message: "no")
        let pushes = try keys.map {
            QuarantinedOperation(key: $0, kind: try pick(OperationKind.allCases), body: [5], reason: reason)
        }
        let refused = pushes.map { RefusedOperation(key: $0.key, kind: $0.kind, call: "POST /t", reason: reason) }
        let replica = try cursors.isEmpty ? nil : pick(cursors).replica
        let index = Int.random(in: 0...3, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            try await both("quarantined") { [time] in
                try await $0.change(principal) { try QuarantineRules.add(pushes, limit: 4, at: time, in: &$0) }.count
            }
        case 1:
            try await change("take back", principal) { try QuarantineRules.remove(keys, in: &$0) }
        case 2:
            try await both("retry") { [time] in
                try await $0.commands.scheduleRetries(nil, of: principal, at: time).count
            }
        case 3:
            try await both("try") { [time] store in
                let number = try await store.number(of: keys[0], of: principal)
                return try await store.change(principal) {
                    try QuarantineRules.countTry(of: keys[0], number: number, at: time, in: &$0)
                }
            }
        case 4:
            try await run("again") { [time] store in
                let number = try await store.number(of: keys[0], of: principal)
                try await store.change(principal) {
                    try QuarantineRules.refuseAgain(keys[0], number: number, reason: reason, at: time, in: &$0)
                }
            }
        case 5:
            let type = try pick(["A", "B", "C"])
            try await both("drop") { store in
                let lines = try await store.inspection.quarantinedLines(of: nil, after: 0, limit: 99)
                    .filter { $0.line.type == type }.map(\.id)
                return [
                    try await store.commands.dropPushes(
                        Array(
                            store.inspection.quarantinedPushes(of: nil, after: 0, limit: 99).map(\.id).dropFirst(index)
                                .prefix(1))
                    ).count,
                    try await store.commands.dropLines(lines).count,
                ]
            }
        default:
            try await change("refusals", principal) { [time] in
                try RefusalRules.note(refused, replica: replica, result: "push refused", at: time, in: &$0)
            }
        }
    }

    private mutating func changeNotes() async throws {
        let principal = try pick(Self.principals)
        let (notes, sequence) = (try notes(), Int64.random(in: 0...9, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try await both("begin notes") { try await $0.beginNotes(of: principal) }
        case 1: try await run("drop notes") { try await $0.dropNotes(of: principal, after: sequence) }
        default:
            try await change("notes", principal) { [time] in try NoteRules.write(notes, at: time, in: &$0) }
        }
    }

    private mutating func changeReplica() async throws {
        guard let (principal, _, replica) = cursors.randomElement(using: &random) else { return }
        let pending = try records().map { PendingRedelivery(table: $0.table, id: $0.id == "a" ? "a" : "b") }
        let kind = DeviceTrouble.Kind.allCases.randomElement(using: &random) ?? .pull
        let count = Int.random(in: 0...3, using: &random)
        let code = chance(2) ? "a.b" : ""
        switch Int.random(in: 0..<15, using: &random) {
        case 12...13:
            try await both("trouble") { [time] store in
                let noted = try await store.change(principal) {
                    try TroubleRules.note(
                        DeviceTrouble(
                            replica: replica, principal: principal, kind: kind, count: count, since: time, lastAt: time,
                            code: code), in: &$0)
                }
                return [noted?.before, noted?.after]
            }
        case 14:
            try await changed("end troubles", principal) { try TroubleRules.end([kind, .push], of: replica, in: &$0) }
        case 0:
            try await changed("forget", principal) { try ReplicaRules.forget(replica, at: now, in: &$0) }
        case 1:
            try await change("resync", principal) { [time] in try ReplicaRules.resync(replica, at: time, in: &$0) }
        case 2:
            try await change("accept", principal) { [time] in
                try ReplicaRules.acceptDeletions(of: replica, at: time, in: &$0)
            }
        case 3...6:
            try await change("redeliver", principal) { [time] in
                try RedeliveryRules.schedule(pending, to: replica, at: time, in: &$0)
            }
        case 7...8:
            try await change("drop redeliveries", principal) { try RedeliveryRules.drop(pending, of: replica, in: &$0) }
        default:
            try await change("touch", principal) { [time] in
                try ReplicaRules.touch(replica, result: "pull", at: time, in: &$0)
            }
        }
    }

    private mutating func collect() async throws {
        if chance(3) { time += Int64.random(in: 0...40, using: &random) * 24 * Self.hour }
        var retention = Retention(
            now: time, seenBefore: time - 30 * 24 * Self.hour, supersededBefore: Instant(milliseconds: newest - 20),
            undoBefore: Instant(milliseconds: newest - 10))
        retention.ran = chance(2) || isOpenedAnew ? nil : Self.hour
        isOpenedAnew = false
        let wanted = retention
        try await run("collect") { _ = try await $0.collect(wanted) }
    }
}

extension StoreTrial {
    private mutating func compareDevices() async throws {
        let rule = StuckRule(
            repeats: Int.random(in: 0...3, using: &random), pushes: Int.random(in: 0...3, using: &random),
            time: Int64.random(in: 0...2, using: &random) * Self.hour)
        try await both("stuck") { [time] in
            try await $0.inspection.stuckDevices(by: rule, since: time - 2 * Self.hour, limit: 9)
        }
        try await both("replicas") { try await $0.inspection.replicas(of: nil, after: nil, limit: 99) }
        // All devices are in the order of the hours that are stored.
        try await both("what was deferred") {
            try await $0.storeDeferred()
            return true
        }
        try await both("by contact") { try await $0.inspection.replicasByContact(of: nil, after: nil, limit: 99) }
    }

    private mutating func compare() async throws {
        try await comparePushes()
        for principal in Self.principals {
            try await seen("notes of \(principal)", principal) { [time] in
                try NoteRules.notes(after: 3, madeSince: time - Self.hour, limit: 50, of: &$0)
            }
            try await seen("kinds", principal) { try QuarantineRules.kinds(of: &$0) }
            try await both("retries") {
                try await $0.read(principal) { try QuarantineRules.scheduled(limit: 9, of: &$0) }.map(\.push)
            }
            try await seen("mappings", principal) { try IDRules.mappings(after: 0, limit: 99, of: &$0) }
            try await both("refusals") { try await Set($0.read(principal) { try RefusalRules.newest(99, in: &$0) }) }
            try await both("journals") {
                try await $0.read(principal) { try JournalRules.openJournals(of: &$0) }.map(\.inFlight)
            }
            try await seen("receipt", principal) { [time] in try ReceiptRules.receipt("d1", at: time, of: &$0) }
            try await both("ledgers") { store in
                try await store.read(principal) { try ReplicaRules.ledgers(of: &$0) }.map {
                    [$0.deltas.count, $0.undos.count, $0.version]
                }
            }
        }
        try await compareDevices()
        try await compareCursors()
    }

    private mutating func comparePushes() async throws {
        try await both("all journals") { try await $0.inspection.journals(of: nil, after: 0, limit: 99) }
        try await both("all pushes") { store in
            try await store.inspection.quarantinedPushes(of: nil, after: 0, limit: 99).map { push in
                var push = push
                push.id = 0
                return push
            }
        }
        try await both("all lines") { store in
            try await Set(
                store.inspection.quarantinedLines(of: nil, after: 0, limit: 99).map { line in
                    var line = line
                    line.id = 0
                    return line
                })
        }
        try await both("versions") { try await $0.inspection.schemaVersions(ofLast: 99) }
        try await both("newest") { try await $0.newestCursor() }
        try await both("line counts") { try await $0.inspection.quarantineCounts() }
        try await both("digests") { try await $0.inspection.principals(beginningWith: "a", limit: 9) }
        for record in try records() {
            try await seen("note", alice) {
                try NoteRules.note(of: PushedRecordKey(table: record.table, id: record.id), in: &$0)
            }
            try await seen("given up \(record)", alice) { try JournalRules.wasGivenUp(record, of: &$0) }
            try await seen("refusal of \(record)", alice) { try RefusalRules.refusal(of: record, in: &$0) }
            try await seen("ids of \(record)", alice) {
                try IDRules.mappings(with: record.id, in: record.table, of: &$0)
            }
            try await seen("mapped", alice) { try IDRules.mapped(["1", "2"], in: record.table, of: &$0) }
        }
    }

    private mutating func compareCursors() async throws {
        for known in cursors.shuffled(using: &random).prefix(4) {
            try await seen("redeliveries", known.principal) {
                try RedeliveryRules.pending(for: known.replica, at: known.cursor, limit: 9, of: &$0)
            }
            try await both("view of \(known.cursor)") { store in
                let ledger = try await store.read(known.principal) {
                    try ContextRule.context(of: &$0, session: phone, presented: known.cursor)
                }.ledger
                guard let ledger else { return Entries?.none }
                return try await store.view(ledger)
            }
            for principal in [known.principal, alice] {
                try await both("context of \(known.cursor)") { store in
                    var context = try await store.read(principal) {
                        try ContextRule.context(of: &$0, session: phone, presented: known.cursor)
                    }
                    // Layers and journals have numbers of the store's own.
                    context.ledger?.deltas = []
                    context.ledger?.undos = []
                    context.ledger?.base = nil
                    // A store says no less than it needs for the next cursor.
                    context.newest = nil
                    context.unfinished.openJournals = context.unfinished.openJournals.map { _ in 0 }
                    return context
                }
            }
        }
    }
}
