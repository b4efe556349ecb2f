// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Bytes that wait until it is certain that they may be sent: in memory up to a limit, in a nameless file beyond it.
///
/// Appending is for one task at a time; reading may begin when nothing is appended any more.
final class Spool: Sendable {
    /// How much may be kept, and where.
    struct Limits: Sendable {
        /// Where files are made.
        var directory: String
        /// How many bytes stay in memory.
        var memory: Int
        /// How many bytes there may be altogether.
        var total: Int
    }

    private struct State {
        var chunks: [(offset: UInt64, bytes: [UInt8])] = []
        var memoryLength: UInt64 = 0
        var length: UInt64 = 0
        var file: SpoolFile?
    }

    private let limits: Limits
    private let state = NIOLockedValueBox(State())

    init(limits: Limits) { self.limits = limits }

    /// How many bytes were appended.
    var length: UInt64 { state.withLockedValue { $0.length } }

    /// How many of them are in memory.
    var memoryLength: UInt64 { state.withLockedValue { $0.memoryLength } }

    /// Puts the bytes behind all others and says where.
    @discardableResult
    func append(_ bytes: [UInt8]) async throws(SpoolError) -> UInt64 {
        let (offset, file, fits) = state.withLockedValue { state in
            let fits = state.file == nil && Int(state.length) + bytes.count <= limits.memory
            return (state.length, state.file, fits)
        }
        guard Int(offset) + bytes.count <= limits.total else { throw .tooLarge }
        if fits {
            state.withLockedValue {
                $0.chunks.append((offset, bytes))
                $0.length += UInt64(bytes.count)
                $0.memoryLength = $0.length
            }
            return offset
        }
        let overflow: SpoolFile
        if let file { overflow = file } else { overflow = try await SpoolFile.open(in: limits.directory) }
        let start = state.withLockedValue { state in
            state.file = overflow
            return state.memoryLength
        }
        try await overflow.write(bytes, at: offset - start)
        state.withLockedValue { $0.length += UInt64(bytes.count) }
        return offset
    }

    /// Reads up to `count` bytes from `offset` on: at least one, fewer than asked for at the end of a chunk.
    func read(at offset: UInt64, upTo count: Int) async throws(SpoolError) -> [UInt8] {
        let (chunk, file, memoryLength, length) = state.withLockedValue { state in
            (Self.chunk(holding: offset, in: state.chunks), state.file, state.memoryLength, state.length)
        }
        precondition(offset < length && count > 0, "read behind the end of a spool")
        if offset < memoryLength, let chunk {
            let first = Int(offset - chunk.offset)
            let last = min(first + count, chunk.bytes.count)
            return first == 0 && last == chunk.bytes.count ? chunk.bytes : Array(chunk.bytes[first..<last])
        }
        guard let file else { return [] }
        return try await file.read(count: min(count, Int(length - offset)), at: offset - memoryLength)
    }

    private static func chunk(
        holding offset: UInt64, in chunks: [(offset: UInt64, bytes: [UInt8])]
    ) -> (offset: UInt64, bytes: [UInt8])? {
        var low = 0
        var high = chunks.count
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? chunks[low - 1] : nil
    }
}
