// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Holds bytes until it is certain that they may be sent: in memory up to a limit, in a nameless file beyond it.
///
/// Only one task at a time may append. Others may meanwhile read what was there before; bytes that are being read are
/// never cut off.
final class Spool: Sendable {
    /// The limits of a spool, and the files that it overflows into.
    struct Limits: Sendable {
        /// Makes the file that the spool overflows into.
        var files: any SpoolFiles
        /// The number of bytes that stay in memory.
        var memory: Int
        /// The greatest number of bytes altogether.
        var total: Int
    }

    private struct State {
        var chunks: [(offset: UInt64, bytes: [UInt8])] = []
        var memoryLength: UInt64 = 0
        var length: UInt64 = 0
        var file: (any SpoolFile)?
        /// The number of bytes in the file.
        var written: UInt64 = 0
        /// The bytes that are being written after these.
        var flushing: [UInt8] = []
        /// The bytes after those, gathered because every write waits for another thread.
        var tail: [UInt8] = []

        /// Returns the bytes at an offset after those in memory and in the file, at most `count` of them.
        func waiting(at position: UInt64, upTo count: Int) -> [UInt8] {
            let skipped = Int(position - written)
            guard skipped >= flushing.count else { return Array(flushing.dropFirst(skipped).prefix(count)) }
            return Array(tail.dropFirst(skipped - flushing.count).prefix(count))
        }
    }

    private let limits: Limits
    /// The spool's part of the bytes that all spools may hold together.
    private let lease: SpoolLease
    private let writeSize: Int
    private let state = NIOLockedValueBox(State())

    /// Creates an empty spool that writes `writeSize` bytes at a time to its file; as many stay in memory beyond the
    /// limit.
    init(limits: Limits, lease: SpoolLease, writeSize: Int = 512 << 10) {
        self.limits = limits
        self.lease = lease
        self.writeSize = writeSize
    }

    /// The number of appended bytes.
    var length: UInt64 { state.withLockedValue { $0.length } }

    /// The number of bytes in memory.
    var memoryLength: UInt64 { state.withLockedValue { $0.memoryLength } }

    /// Appends bytes and returns their offset.
    ///
    /// - Throws: ``SpoolError``; ``SpoolError/exhausted`` if other spools hold too much at the moment.
    @discardableResult
    func append(_ bytes: [UInt8]) async throws(SpoolError) -> UInt64 {
        let (offset, file, fits) = state.withLockedValue { state in
            let fits = state.file == nil && Int(state.length) + bytes.count <= limits.memory
            return (state.length, state.file, fits)
        }
        guard Int(offset) + bytes.count <= limits.total else { throw .tooLarge }
        // If other spools hold the memory, the bytes go to the file earlier.
        if fits, lease.takeForLines(bytes.capacity) {
            state.withLockedValue {
                $0.chunks.append((offset, bytes))
                $0.length += UInt64(bytes.count)
                $0.memoryLength = $0.length
            }
            return offset
        }
        guard lease.takeDisk(bytes.count) else {
            // Bytes that can never fit are not worth another attempt.
            throw lease.held.disk + bytes.count > lease.mostOnDisk ? .tooLarge : .exhausted
        }
        if file == nil {
            let overflow = try await limits.files.open()
            state.withLockedValue { $0.file = overflow }
        }
        let full = state.withLockedValue { state -> (file: any SpoolFile, tail: [UInt8], start: UInt64)? in
            if state.tail.isEmpty {
                state.tail = bytes
                if bytes.count < writeSize { state.tail.reserveCapacity(writeSize + bytes.count) }
            } else {
                state.tail += bytes
            }
            state.length += UInt64(bytes.count)
            guard state.tail.count >= writeSize, let file = state.file else { return nil }
            (state.flushing, state.tail) = (state.tail, [])
            return (file, state.flushing, state.written)
        }
        guard let full else { return offset }
        do {
            try await full.file.write(full.tail, at: full.start)
        } catch {
            // Bytes that were appended before must still be there after a cut.
            state.withLockedValue { ($0.tail, $0.flushing) = (full.tail, []) }
            throw error
        }
        state.withLockedValue { state in
            state.written += UInt64(full.tail.count)
            state.flushing = []
        }
        return offset
    }

    /// Writes the bytes that were gathered for the file, so that an idle spool takes no memory for them.
    func flush() async throws(SpoolError) {
        let rest = state.withLockedValue { state -> (file: any SpoolFile, tail: [UInt8], start: UInt64)? in
            guard let file = state.file, !state.tail.isEmpty else { return nil }
            (state.flushing, state.tail) = (state.tail, [])
            return (file, state.flushing, state.written)
        }
        guard let rest else { return }
        do {
            try await rest.file.write(rest.tail, at: rest.start)
        } catch {
            state.withLockedValue { ($0.tail, $0.flushing) = (rest.tail, []) }
            throw error
        }
        state.withLockedValue { state in
            state.written += UInt64(rest.tail.count)
            state.flushing = []
        }
    }

    /// Cuts off everything after a length at which an append began; allowed after a failed append, too.
    func cut(to length: UInt64) async throws(SpoolError) {
        let cut = state.withLockedValue { state -> (file: any SpoolFile, length: UInt64)? in
            precondition(length <= state.length, "a spool is cut behind its end")
            state.length = length
            if length <= state.memoryLength {
                // Without its file, the spool may grow in memory again.
                state.chunks.removeAll { $0.offset >= length }
                (state.memoryLength, state.file, state.written, state.tail) = (length, nil, 0, [])
                return nil
            }
            let position = length - state.memoryLength
            guard position < state.written else {
                state.tail.removeLast(state.tail.count - Int(position - state.written))
                return nil
            }
            (state.written, state.tail) = (position, [])
            return state.file.map { ($0, position) }
        }
        let (memory, disk) = state.withLockedValue { state in
            (state.chunks.reduce(0) { $0 + $1.bytes.capacity }, Int(state.length - state.memoryLength))
        }
        lease.keep(memory: memory, disk: disk)
        if let cut { try await cut.file.truncate(to: cut.length) }
    }

    /// Reads up to `count` bytes at an offset: at least one, and fewer than `count` at the end of a chunk.
    func read(at offset: UInt64, upTo count: Int) async throws(SpoolError) -> [UInt8] {
        let (chunk, file, memoryLength, written, waiting) = state.withLockedValue { state in
            precondition(offset < state.length && count > 0, "read behind the end of a spool")
            let position = offset < state.memoryLength ? nil : offset - state.memoryLength
            let waiting = position.flatMap { $0 < state.written ? nil : state.waiting(at: $0, upTo: count) }
            return (
                Self.chunk(holding: offset, in: state.chunks), state.file, state.memoryLength, state.written, waiting
            )
        }
        if let waiting { return waiting }
        if offset < memoryLength, let chunk {
            let first = Int(offset - chunk.offset)
            let last = min(first + count, chunk.bytes.count)
            return first == 0 && last == chunk.bytes.count ? chunk.bytes : Array(chunk.bytes[first..<last])
        }
        let position = offset - memoryLength
        guard let file else { return [] }
        return try await file.read(count: min(count, Int(written - position)), at: position)
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
