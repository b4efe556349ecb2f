// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel
import Testing

/// Does the same random things to a reference and to another store, and compares everything that they answer.
///
/// Numbers that a store chooses for layers and quarantined entries are its own: those are compared by what they say.
struct StoreTrial {
    typealias Store = InspectableStore & JournalAdmin

    private static let principals = [
        alice, bob,
        Principal(rawValue: "ca401", origin: Principal.Origin(user: alice.rawValue, scope: "path.id=7")),
    ]
    private static let sessions = [phone, tablet]
    private static let hour: Int64 = 3_600_000

    let reference: any Store
    private(set) var other: any Store
    private var random: SeededGenerator
    private var time = now
    private var newest = now.milliseconds
    private var cursors: [(principal: Principal, cursor: Cursor, replica: ReplicaID)] = []
    private var journals: [Int64] = []
    private(set) var agreed = 0
    /// True if the other store was opened since the last collection: how long its process ran is unknown then.
    private var isOpenedAnew = false

    init(reference: any Store, other: any Store, seed: UInt64) {
        (self.reference, self.other) = (reference, other)
        random = SeededGenerator(seed: seed)
    }

    /// What a call has come to.
    private enum Outcome<T: Hashable & Sendable>: Hashable {
        case value(T)
        case error(StateError)

        init(_ store: any Store, _ call: (any Store) async throws -> T) async throws {
            do { self = .value(try await call(store)) } catch let error as StateError { self = .error(error) }
        }
    }

    /// Calls both stores, which must come to the same; nil where that is an error.
    @discardableResult
    private mutating func both<T: Hashable & Sendable>(
        _ name: String, _ call: (any Store) async throws -> T
    ) async throws -> T? {
        let (expected, found) = (try await Outcome(reference, call), try await Outcome(other, call))
        try #require(found == expected, "\(name)")
        agreed += 1
        guard case .value(let value) = found else { return nil }
        return value
    }

    /// Goes on with another store, which has a copy of the other one's state but for the positions.
    mutating func goOn(with store: any Store) async throws {
        other = store
        isOpenedAnew = true
        for principal in Self.principals {
            for session in Self.sessions {
                let known = try await reference.pullContext(principal: principal, session: session, presented: nil)
                guard known.session.position != .unknown else { continue }
                try await reference.setPosition(.unknown, principal: principal, session: session, at: now)
            }
        }
    }

    private mutating func run(_ name: String, _ call: (any Store) async throws -> Void) async throws {
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
        let context = try await other.pullContext(
            principal: principal, session: session, presented: known?.cursor)
        if let known {
            try await run("confirm") { [time] in
                try await $0.confirm(principal: principal, cursor: known.cursor, at: time)
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
            let before = try await store.pullContext(principal: principal, session: session, presented: known?.cursor)
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
            try await both("raise") { [time] in
                try await $0.raiseGeneration(principal: principal, session: session, at: time)
            }
        case 1: try await both("distrust") { [time] in try await $0.distrust(because: .state, of: nil, at: time) }
        case 2:
            try await run("accepted") { [time] in
                try await $0.markAccepted(principal: principal, session: session, at: time)
            }
        default:
            try await run("position") { [time] in
                try await $0.setPosition(position, principal: principal, session: session, at: time)
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
            try await run("receipt") { [time] in
                try await $0.saveReceipt(
                    receipt, principal: principal, digest: digest, at: time, expiresAt: time + life)
            }
        case 1: try await run("drop receipts") { try await $0.dropReceipts(principal: principal) }
        case 2:
            try await both("mappings") { [time] in
                try await $0.saveMappings(mappings, principal: principal, at: time)
            }
        case 3:
            try await both("pushed version") {
                try await $0.notePushed(version: version, replica: replica, principal: principal)
            }
        default:
            let opening = JournalOpening(presented: nil, operations: 9, notes: try notes())
            let journal = try await both("begin") { [time] in
                try await $0.beginPush(opening, principal: principal, at: time)
            }
            journals += [journal].compactMap { $0 }
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
        let journal = journals.isEmpty || chance(9) ? 99 : try pick(journals)
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
        let (change, outcome) = (step, closure)
        switch Int.random(in: 0..<6, using: &random) {
        case 0...1: try await run("advance") { [time] in try await $0.advance(change, of: journal, at: time) }
        case 2: try await run("end") { [time] in try await $0.endPush(end, of: journal, at: time) }
        case 3: try await run("close") { [time] in try await $0.closeJournal(journal, with: outcome, at: time) }
        case 4: try await run("give up") { try await $0.giveUp(index, of: journal) }
        default:
            try await both("count try") { [time] in
                let (tries, since) = try await $0.countTry(of: journal, at: time)
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
                try await $0.quarantine(pushes, of: principal, limit: 4, at: time).count
            }
        case 1: try await run("take back") { try await $0.removeQuarantined(keys, of: principal) }
        case 2:
            try await both("retry") { [time] in
                try await $0.scheduleRetries(nil, of: principal, at: time).count
            }
        case 3: try await both("try") { [time] in try await $0.countTry(ofQuarantined: $0.push(index), at: time) }
        case 4:
            try await run("again") { [time] in
                try await $0.quarantineAgain($0.push(index), reason: reason, at: time)
            }
        case 5:
            let type = try pick(["A", "B", "C"])
            try await both("drop") { store in
                let lines = try await store.quarantinedLines(of: nil, after: 0, limit: 99)
                    .filter { $0.line.type == type }.map(\.id)
                return [try await store.dropPushes([store.push(index)]).count, try await store.dropLines(lines).count]
            }
        default:
            try await run("refusals") { [time] in
                try await $0.noteRefusals(refused, of: principal, replica: replica, result: "push refused", at: time)
            }
        }
    }

    private mutating func changeNotes() async throws {
        let principal = try pick(Self.principals)
        let (notes, sequence) = (try notes(), Int64.random(in: 0...9, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try await both("begin notes") { try await $0.beginNotes(of: principal) }
        case 1: try await run("drop notes") { try await $0.dropNotes(of: principal, after: sequence) }
        default: try await run("notes") { [time] in try await $0.note(notes, principal: principal, at: time) }
        }
    }

    private mutating func changeReplica() async throws {
        guard let replica = cursors.randomElement(using: &random)?.replica else { return }
        let pending = try records().map { PendingRedelivery(table: $0.table, id: $0.id == "a" ? "a" : "b") }
        let kind = DeviceTrouble.Kind.allCases.randomElement(using: &random) ?? .pull
        let count = Int.random(in: 0...3, using: &random)
        let code = chance(2) ? "a.b" : ""
        switch Int.random(in: 0..<15, using: &random) {
        case 12...13:
            try await both("trouble") { [time] store in
                let noted = try await store.noteTrouble(
                    kind, code: code, count: count, since: time, of: replica, at: time)
                return [noted?.before, noted?.after]
            }
        case 14: try await both("end troubles") { try await $0.endTroubles([kind, .push], of: replica) }
        case 0: try await both("forget") { try await $0.forget(replica: replica) }
        case 1: try await run("resync") { [time] in try await $0.resync(replica: replica, at: time) }
        case 2: try await run("accept") { [time] in try await $0.acceptDeletions(replica: replica, at: time) }
        case 3...6:
            try await run("redeliver") { [time] in
                try await $0.scheduleRedelivery(pending, to: replica, at: time)
            }
        case 7...8: try await run("drop redeliveries") { try await $0.dropRedeliveries(pending, of: replica) }
        default:
            try await run("touch") { [time] in
                try await $0.touch(replica: replica, result: "pull", at: time)
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
            try await $0.stuckDevices(by: rule, since: time - 2 * Self.hour, limit: 9)
        }
        try await both("replicas") { try await $0.replicas(of: nil, after: nil, limit: 99) }
        // All devices are in the order of the hours that are stored.
        try await both("what was deferred") {
            try await $0.storeDeferred()
            return true
        }
        try await both("by contact") { try await $0.replicasByContact(of: nil, after: nil, limit: 99) }
    }

    private mutating func compare() async throws {
        try await comparePushes()
        for principal in Self.principals {
            try await both("notes of \(principal)") { [time] in
                try await $0.pushNotes(of: principal, after: 3, madeSince: time - Self.hour, limit: 50)
            }
            try await both("kinds") { try await $0.quarantinedKinds(of: principal) }
            try await both("retries") { try await $0.scheduledRetries(of: principal, limit: 9).map(\.push) }
            try await both("mappings") { try await $0.idMappings(of: principal, after: 0, limit: 99) }
            try await both("refusals") { try await Set($0.refusals(of: principal, limit: 99)) }
            try await both("journals") { try await $0.openJournals(of: principal).map(\.inFlight) }
            try await both("receipt") { [time] in try await $0.receipt(principal: principal, digest: "d1", at: time) }
            try await both("ledgers") { store in
                try await store.ledgers(of: principal).map { [$0.deltas.count, $0.undos.count, $0.version] }
            }
        }
        try await compareDevices()
        try await compareCursors()
    }

    private mutating func comparePushes() async throws {
        try await both("all journals") { try await $0.journals(of: nil, after: 0, limit: 99) }
        try await both("all pushes") { store in
            try await store.quarantinedPushes(of: nil, after: 0, limit: 99).map { push in
                var push = push
                push.id = 0
                return push
            }
        }
        try await both("all lines") { store in
            try await Set(
                store.quarantinedLines(of: nil, after: 0, limit: 99).map { line in
                    var line = line
                    line.id = 0
                    return line
                })
        }
        try await both("versions") { try await $0.schemaVersions(ofLast: 99) }
        try await both("newest") { try await $0.newestCursor() }
        try await both("line counts") { try await $0.quarantineCounts() }
        try await both("digests") { try await $0.principals(beginningWith: "a", limit: 9) }
        for record in try records() {
            try await both("note") { try await $0.pushNote(of: alice, table: record.table, id: record.id) }
            try await both("given up \(record)") { try await $0.wasGivenUp(record, of: alice) }
            try await both("refusal of \(record)") { try await $0.refusal(of: alice, key: record) }
            try await both("ids of \(record)") {
                try await $0.idMappings(of: alice, table: record.table, id: record.id)
            }
            try await both("mapped") { try await $0.mappedIDs(["1", "2"], in: record.table, of: alice) }
            try await both("more notes") { try await $0.hasMorePushNotes(than: 2, of: alice, after: 3) }
        }
    }

    private mutating func compareCursors() async throws {
        for known in cursors.shuffled(using: &random).prefix(4) {
            try await both("redeliveries") {
                try await $0.redeliveries(of: known.replica, at: known.cursor, limit: 9)
            }
            try await both("view of \(known.cursor)") { store in
                let ledger = try await store.pullContext(
                    principal: known.principal, session: phone, presented: known.cursor
                ).ledger
                return try await ledger.asyncMap { try await store.view($0) }
            }
            for principal in [known.principal, alice] {
                try await both("context of \(known.cursor)") { store in
                    var context = try await store.pullContext(
                        principal: principal, session: phone, presented: known.cursor)
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

extension QuarantineAdmin {
    /// The number of one of the entries, or one that is nobody's.
    fileprivate func push(_ index: Int) async throws -> Int64 {
        let entries = try await quarantinedPushes(of: nil, after: 0, limit: 99)
        return index < entries.count ? entries[index].id : 0
    }
}

extension Optional {
    fileprivate func asyncMap<T>(_ body: (Wrapped) async throws -> T) async rethrows -> T? {
        if let self { return try await body(self) }
        return nil
    }
}
