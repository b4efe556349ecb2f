// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Gateway

@Suite struct MemoryTrimTests {
    private static let mebibyte = 1 << 20

    @Test func `what a peak has left is given back once, and what stays idle is not tried again`() {
        var trim = MemoryTrim()
        // Resident, in use, and whether that is worth it.
        let course: [(Int, Int, Bool)] = [
            (50, 20, false), (60, 20, false), (500, 470, false), (500, 430, false), (500, 400, true),
        ]
        for (resident, inUse, isDue) in course {
            #expect(trim.isDue(resident: resident * Self.mebibyte, inUse: inUse * Self.mebibyte) == isDue)
        }
        trim.done(resident: 480 * Self.mebibyte, inUse: 400 * Self.mebibyte)
        let after: [(Int, Int, Bool)] = [(480, 400, false), (490, 350, false), (400, 390, false), (400, 325, true)]
        for (resident, inUse, isDue) in after {
            #expect(trim.isDue(resident: resident * Self.mebibyte, inUse: inUse * Self.mebibyte) == isDue)
        }
    }

    #if os(Linux) && canImport(Glibc)
    @Test(
        .disabled(
            if: ProcessInfo.processInfo.environment["RIND_TEST_SANITIZED"] == "1", "a sanitizer has its own allocator"))
    func `what was freed is not resident any more after giving back`() throws {
        let size = 64 * Self.mebibyte
        var pieces = (0..<(size / 16_384)).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 16_000) }
        let peak = try #require(ProcessMemory.now)
        #expect(peak.resident > size && peak.inUse > size, "\(peak)")
        // What stays between keeps the allocator from giving the rest back by itself.
        pieces = pieces.enumerated().filter { $0.offset % 16 == 0 }.map(\.element)
        ProcessMemory.trim()
        let after = try #require(ProcessMemory.now)
        #expect(after.resident < peak.resident - size / 2 && pieces.count == size / 16_384 / 16)
    }
    #endif
}
