// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import SyncModel
import Testing

@testable import Gateway

/// Spools whose memory is moved to their file while they are read.
@Suite struct MovedSpoolTests {
    /// Files that stop in the middle of a write until they are told to go on, or fail.
    private final class HeldFiles: SpoolFiles {
        enum Order { case write, wait, fail }
        let order = NIOLockedValueBox(Order.write)
        private let disk = DiskSpoolFiles(directory: "/tmp")

        func open() async throws(SpoolError) -> any SpoolFile { File(file: try await disk.open(), order: order) }

        private struct File: SpoolFile {
            let file: any SpoolFile
            let order: NIOLockedValueBox<Order>

            func write(_ bytes: [UInt8], at offset: UInt64) async throws(SpoolError) {
                while order.withLockedValue({ $0 == .wait }) { await Task.yield() }
                guard order.withLockedValue({ $0 == .write }) else { throw .diskFull }
                try await file.write(bytes, at: offset)
            }

            func truncate(to length: UInt64) async throws(SpoolError) { try await file.truncate(to: length) }

            func read(count: Int, at offset: UInt64) async throws(SpoolError) -> [UInt8] {
                try await file.read(count: count, at: offset)
            }
        }
    }

    private static let ada = Principal(rawValue: "ada")

    private func chunk(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 100) }

    private func contents(_ spool: Spool) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while UInt64(bytes.count) < spool.length {
            let piece = try await spool.read(at: UInt64(bytes.count), upTo: 33)
            try #require(!piece.isEmpty)
            bytes += piece
        }
        return bytes
    }

    /// A spool of ten chunks, with `memory` bytes of them in memory.
    private func spool(
        memory: Int, budget: SpoolBudget, files: HeldFiles = HeldFiles(), writeSize: Int = 150
    ) async throws -> Spool {
        let spool = Spool(
            limits: Spool.Limits(files: files, memory: memory, total: 10_000), lease: budget.lease(for: Self.ada),
            writeSize: writeSize)
        for number in 0..<10 { try await spool.append(chunk(number)) }
        return spool
    }

    private func budget(disk: Int = 1 << 20) -> SpoolBudget {
        SpoolBudget(memory: 1 << 20, disk: disk) { _ in false }
    }

    @Test(arguments: [0, 100, 450, 1_000])
    func `what is moved to the file is read as before, and takes no memory`(memory: Int) async throws {
        let budget = budget()
        let spool = try await spool(memory: memory, budget: budget)
        try await spool.flush()
        let length = spool.length
        try await spool.moveToFile(upTo: length)
        #expect(budget.held == SpoolBudget.Held(memory: 0, disk: 1_000))
        #expect(spool.memoryLength == 0 && !spool.isInMemory(0))
        // Another pull goes on from its end, fails and is cut off, and one more does.
        for number in 10..<14 { try await spool.append(chunk(number)) }
        try await spool.cut(to: length)
        #expect(budget.held == SpoolBudget.Held(memory: 0, disk: 1_000))
        for number in 20..<23 { try await spool.append(chunk(number)) }
        #expect(try await contents(spool) == (0..<10).flatMap(chunk) + (20..<23).flatMap(chunk))
    }

    @Test func `what was appended since a reader's end stays in memory, and may be cut off while the rest moves`()
        async throws
    {
        let budget = budget()
        let files = HeldFiles()
        let spool = try await spool(memory: 10_000, budget: budget, files: files, writeSize: 10_000)
        for number in 10..<14 { try await spool.append(chunk(number)) }
        files.order.withLockedValue { $0 = .wait }
        async let move: Void = spool.moveToFile(upTo: 1_000)
        while budget.held.disk == 0 { await Task.yield() }
        try await spool.cut(to: 1_000)
        #expect(budget.held.disk == 100)
        for number in 20..<23 { try await spool.append(chunk(number)) }
        // A second reader does not wait for the first one.
        try await spool.moveToFile(upTo: 1_000)
        files.order.withLockedValue { $0 = .write }
        try await move
        #expect(try await contents(spool) == (0..<10).flatMap(chunk) + (20..<23).flatMap(chunk))
        #expect(!spool.isInMemory(999) && budget.held.disk >= 1_000)
        try await spool.cut(to: 1_000)
        #expect(budget.held == SpoolBudget.Held(memory: 0, disk: 1_000))
    }

    @Test func `what cannot be moved stays in memory, and nothing is held for it twice`() async throws {
        let budget = budget()
        let files = HeldFiles()
        let spool = try await spool(memory: 10_000, budget: budget, files: files)
        let before = budget.held
        files.order.withLockedValue { $0 = .fail }
        await #expect(throws: SpoolError.diskFull) { try await spool.moveToFile(upTo: 1_000) }
        #expect(budget.held == before && spool.isInMemory(0))
        #expect(try await contents(spool) == (0..<10).flatMap(chunk))
        files.order.withLockedValue { $0 = .write }
        try await spool.moveToFile(upTo: 1_000)
        #expect(budget.held == SpoolBudget.Held(memory: 0, disk: 1_000))
    }

    @Test func `where the disk's limit is reached the rest stays in memory`() async throws {
        // One principal gets half.
        let budget = budget(disk: 1_000)
        let spool = try await spool(memory: 10_000, budget: budget)
        await #expect(throws: SpoolError.self) { try await spool.moveToFile(upTo: 1_000) }
        #expect(budget.held.disk == 500 && spool.memoryLength == 500)
        #expect(try await contents(spool) == (0..<10).flatMap(chunk))
    }

    @Test func `readers see the same bytes while these move`() async throws {
        let spool = try await spool(memory: 10_000, budget: budget())
        let expected = (0..<10).flatMap(chunk)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<20 {
                        let bytes = try await self.contents(spool)
                        #expect(bytes == expected)
                    }
                }
            }
            for _ in 0..<2 { group.addTask { try await spool.moveToFile(upTo: 1_000) } }
            try await group.waitForAll()
        }
    }
}
