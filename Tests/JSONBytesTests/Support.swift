// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes

/// SplitMix64: the same numbers for the same seed everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Memory that ends where a page ends, with a page behind it that must not be touched.
final class GuardedMemory {
    private let start: UnsafeMutableRawPointer
    private let capacity: Int
    private let pageSize: Int

    init(capacity wanted: Int) throws {
        pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        capacity = (wanted + pageSize - 1) / pageSize * pageSize
        let mapped = mmap(nil, capacity + pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped, mapped != MAP_FAILED else { throw CocoaError(.coderInvalidValue) }
        start = mapped
        guard mprotect(start + capacity, pageSize, PROT_NONE) == 0 else { throw CocoaError(.coderInvalidValue) }
    }

    deinit { munmap(start, capacity + pageSize) }

    /// The bytes, copied so that the last one is the last of its page.
    func holding(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        precondition(bytes.count <= capacity)
        let target = UnsafeMutableRawBufferPointer(start: start + capacity - bytes.count, count: bytes.count)
        target.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(target)
    }
}

/// The outcome of validating a whole document.
func outcome(of bytes: [UInt8], depth: Int = JSONScanner.defaultDepth) -> JSONError? {
    bytes.withUnsafeBytes { bytes -> JSONError? in
        do throws(JSONError) {
            _ = try JSONScanner.document(bytes, maximumDepth: depth)
            return nil
        } catch { return error }
    }
}

func outcome(of text: String, depth: Int = JSONScanner.defaultDepth) -> JSONError? {
    outcome(of: Array(text.utf8), depth: depth)
}

/// Scans a document and looks at its value.
func withSlice<R>(_ text: String, _ body: (JSONSlice) throws -> R) throws -> R {
    try Array(text.utf8).withUnsafeBytes { try body(try JSONScanner.document($0)) }
}

/// What a writer makes of something.
func written(_ body: (inout JSONWriter) throws -> Void) rethrows -> String {
    var writer = JSONWriter()
    try body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}
