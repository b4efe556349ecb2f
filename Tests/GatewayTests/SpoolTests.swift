// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import Gateway

@Suite struct SpoolTests {
    private static func limits(memory: Int, total: Int = 1 << 20) -> Spool.Limits {
        Spool.Limits(files: DiskSpoolFiles(directory: "/tmp"), memory: memory, total: total)
    }

    private func contents(_ spool: Spool, step: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while UInt64(bytes.count) < spool.length {
            let piece = try await spool.read(at: UInt64(bytes.count), upTo: step)
            #expect(!piece.isEmpty && piece.count <= step)
            bytes += piece
        }
        return bytes
    }

    struct Sizes {
        var memory: Int
        var write: Int
        static let all = [0, 1, 100, 350, 10_000].flatMap { memory in
            [1, 75, 200, 512 << 10].map { Sizes(memory: memory, write: $0) }
        }
    }

    @Test(arguments: Sizes.all, [1, 33, 4_096])
    func `what was appended comes back, wherever memory ends`(_ sizes: Sizes, _ step: Int) async throws {
        let spool = Spool(limits: Self.limits(memory: sizes.memory), writeSize: sizes.write)
        var expected: [UInt8] = []
        for number in 0..<10 {
            let chunk = [UInt8](repeating: UInt8(number), count: 70 + number)
            #expect(try await spool.append(chunk) == UInt64(expected.count))
            expected += chunk
        }
        #expect(spool.memoryLength <= UInt64(sizes.memory))
        #expect(try await contents(spool, step: step) == expected)
    }

    @Test(arguments: Sizes.all, [0, 1, 4, 9, 10])
    func `what is cut off is forgotten and what comes then stands in its place`(_ sizes: Sizes, _ kept: Int)
        async throws
    {
        let spool = Spool(limits: Self.limits(memory: sizes.memory, total: 900), writeSize: sizes.write)
        var expected: [UInt8] = []
        for number in 0..<10 {
            let chunk = [UInt8](repeating: UInt8(number), count: 70 + number)
            try await spool.append(chunk)
            if number < kept { expected += chunk }
        }
        await #expect(throws: SpoolError.tooLarge) { try await spool.append([UInt8](repeating: 99, count: 400)) }
        try await spool.cut(to: UInt64(expected.count))
        #expect(spool.length == UInt64(expected.count) && spool.memoryLength <= UInt64(sizes.memory))
        for number in 20..<23 {
            let chunk = [UInt8](repeating: UInt8(number), count: 50)
            #expect(try await spool.append(chunk) == UInt64(expected.count))
            expected += chunk
        }
        #expect(try await contents(spool, step: 33) == expected)
    }

    @Test(arguments: [0, 100], [1, 4_096])
    func `what was there before is read while more is appended`(_ memory: Int, _ write: Int) async throws {
        let spool = Spool(limits: Self.limits(memory: memory, total: 1 << 24), writeSize: write)
        var expected: [UInt8] = []
        for number in 0..<50 {
            expected += [UInt8](repeating: UInt8(number), count: 37)
            try await spool.append([UInt8](repeating: UInt8(number), count: 37))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<2_000 { try await spool.append([UInt8](repeating: 99, count: 41)) } }
            group.addTask { [expected] in
                for _ in 0..<40 {
                    var bytes: [UInt8] = []
                    while bytes.count < expected.count {
                        let piece = try await spool.read(at: UInt64(bytes.count), upTo: expected.count - bytes.count)
                        try #require(!piece.isEmpty)
                        bytes += piece
                    }
                    #expect(bytes == expected)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `more than the limit is refused and nothing of it is kept`() async throws {
        let spool = Spool(limits: Self.limits(memory: 10, total: 100))
        try await spool.append([UInt8](repeating: 1, count: 90))
        await #expect(throws: SpoolError.tooLarge) { try await spool.append([UInt8](repeating: 2, count: 11)) }
        #expect(spool.length == 90)
    }

    @Test func `a directory that is not there is an error, not a crash`() async throws {
        let spool = Spool(
            limits: Spool.Limits(files: DiskSpoolFiles(directory: "/nowhere/at/all"), memory: 0, total: 100))
        await #expect(throws: SpoolError.self) { try await spool.append([1]) }
    }
}
