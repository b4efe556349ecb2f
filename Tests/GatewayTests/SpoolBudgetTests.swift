// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import NIOConcurrencyHelpers
import SyncModel
import Testing

@testable import Gateway

@Suite struct SpoolBudgetTests {
    private static let (ada, bob) = (Principal(rawValue: "ada"), Principal(rawValue: "bob"))
    private static let limits = Spool.Limits(files: DiskSpoolFiles(directory: "/tmp"), memory: 1_000, total: 10_000)

    private func budget(memory: Int = 1 << 20, disk: Int = 1 << 20) -> SpoolBudget {
        SpoolBudget(memory: memory, disk: disk) { _ in false }
    }

    private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    @Test func `what is spooled is held for as long as anybody has the spool`() async throws {
        let budget = budget()
        do {
            let spool = Spool(limits: Self.limits, lease: budget.lease(for: Self.ada))
            for _ in 0..<30 { try await spool.append(bytes(100)) }
            #expect(budget.held.memory >= 1_000 && budget.held.memory <= 1_500 && budget.held.disk == 2_000)
            try await spool.cut(to: 1_500)
            #expect(budget.held.disk == 500)
            try await spool.cut(to: 200)
            #expect(budget.held.disk == 0 && budget.held.memory < 400)
            try await spool.append(bytes(100))
            #expect(budget.held.memory >= 300 && budget.held.disk == 0)
        }
        #expect(budget.held == SpoolBudget.Held())
    }

    @Test func `where memory is used up the file is used earlier`() async throws {
        let budget = budget(memory: 800)
        let spool = Spool(limits: Self.limits, lease: budget.lease(for: Self.ada))
        for _ in 0..<8 { try await spool.append(bytes(100)) }
        // Half of all, but for the little that an array has more room than bytes.
        #expect(spool.memoryLength > 0 && spool.memoryLength <= 400 && spool.length == 800)
        #expect(budget.held.disk == 800 - Int(spool.memoryLength))
        // A quarter stays for what has no file.
        let other = Spool(limits: Self.limits, lease: budget.lease(for: Self.bob))
        for _ in 0..<8 { try await other.append(bytes(100)) }
        #expect(budget.held.memory <= 600)
        #expect(budget.lease(for: Principal(rawValue: "eve")).takeMemory(50))
    }

    @Test func `where the disk is used up it is an error that passes, and nobody gets all`() async throws {
        let budget = budget(disk: 4_000)
        let limits = Spool.Limits(files: DiskSpoolFiles(directory: "/tmp"), memory: 0, total: 10_000)
        let first = Spool(limits: limits, lease: budget.lease(for: Self.ada))
        for _ in 0..<15 { try await first.append(bytes(100)) }
        let second = Spool(limits: limits, lease: budget.lease(for: Self.ada))
        for _ in 0..<5 { try await second.append(bytes(100)) }
        await #expect(throws: SpoolError.exhausted) { try await second.append(bytes(100)) }
        #expect(second.length == 500)
        do {
            let others = Spool(limits: limits, lease: budget.lease(for: Self.bob))
            for _ in 0..<10 { try await others.append(bytes(100)) }
        }
        try await first.cut(to: 0)
        try await second.append(bytes(100))
        // What would never fit is another error.
        for _ in 0..<14 { try await second.append(bytes(100)) }
        await #expect(throws: SpoolError.tooLarge) { try await second.append(bytes(200)) }
    }

    @Test func `a failed write holds nothing for ever`() async throws {
        let budget = budget()
        do {
            let nowhere = Spool.Limits(files: DiskSpoolFiles(directory: "/nowhere/at/all"), memory: 0, total: 1_000)
            let spool = Spool(limits: nowhere, lease: budget.lease(for: Self.ada))
            await #expect(throws: SpoolError.self) { try await spool.append(bytes(100)) }
            try await spool.cut(to: 0)
            #expect(budget.held.disk == 0)
            await #expect(throws: SpoolError.self) { try await spool.append(bytes(100)) }
        }
        #expect(budget.held == SpoolBudget.Held())
    }

    @Test func `what is kept for repeats gives way, one's own first`() throws {
        let kept = NIOLockedValueBox<[(Principal, SpoolLease)]>([])
        let asked = NIOLockedValueBox<[Principal?]>([])
        let budget = SpoolBudget(memory: 1_000, disk: 1_000) { principal in
            asked.withLockedValue { $0.append(principal) }
            let dropped = kept.withLockedValue { kept in
                kept.firstIndex { principal == nil || $0.0 == principal }.map { kept.remove(at: $0) }
            }
            return dropped != nil
        }
        for principal in [Self.bob, Self.ada] {
            let lease = budget.lease(for: principal)
            #expect(lease.takeDisk(300))
            kept.withLockedValue { $0.append((principal, lease)) }
        }
        let eve = budget.lease(for: Principal(rawValue: "eve"))
        #expect(eve.takeDisk(200) && asked.withLockedValue(\.isEmpty))
        // Ada's own goes, and Bob's stays, since that is room enough.
        let ada = budget.lease(for: Self.ada)
        #expect(ada.takeDisk(200) && asked.withLockedValue { $0 } == [Self.ada])
        #expect(budget.held.disk == 700)
        // What all have together is too little even so: the last one kept goes.
        let dan = budget.lease(for: Principal(rawValue: "dan"))
        #expect(dan.takeDisk(300))
        #expect(kept.withLockedValue(\.isEmpty) && asked.withLockedValue(\.last) == .some(nil))
        withExtendedLifetime((eve, ada, dan)) {}
    }

    @Test func `verdicts and sending count, and end with the answer`() async throws {
        let budget = budget()
        do {
            var spooler = StreamSpooler(
                projection: Projection(schema: Schema(tables: []), schemaVersion: 1), hashKey: SipHash.Key(1, 2),
                intakeLimits: StreamIntake.Limits(), spoolLimits: Self.limits,
                lease: { budget.lease(for: Self.ada) })
            for _ in 0..<20 { try await spooler.spool.append(bytes(100)) }
            var verdicts = LineVerdicts(records: 64_000, deletions: 0)
            verdicts.create(1)
            let before = budget.held.memory
            let spool = try await spooler.finish(DiffedLines(verdicts: [verdicts]), absences: [])
            #expect(budget.held.memory == before + 8_000)
            do {
                let room = try spool.makeRoomToSend(budget.lease(for: Self.ada))
                #expect(budget.held.memory == before + 8_000 + 2_000)
                withExtendedLifetime(room) {}
            }
            #expect(budget.held.memory == before + 8_000)
        }
        #expect(budget.held == SpoolBudget.Held())
    }

    @Test func `a finished spool has nothing gathered for its file`() async throws {
        let spool = Spool(limits: Spool.Limits(files: DiskSpoolFiles(directory: "/tmp"), memory: 150, total: 10_000))
        for number in 0..<5 { try await spool.append([UInt8](repeating: UInt8(number), count: 100)) }
        try await spool.flush()
        try await spool.append([UInt8](repeating: 5, count: 100))
        try await spool.flush()
        var read: [UInt8] = []
        while read.count < 600 { read += try await spool.read(at: UInt64(read.count), upTo: 90) }
        #expect(read == (0..<6).flatMap { [UInt8](repeating: UInt8($0), count: 100) })
    }
}
