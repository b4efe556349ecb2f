// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Tells where the bytes of a ``Spool`` are: in memory, in its file, or on their way to it.
///
/// The first bytes are in memory, in chunks, and all others go to the file. Chunks may be moved to the file later, the
/// first one first. A byte has the same offset in the file as in the spool, so the file begins with a gap that takes no
/// space as long as nothing was moved.
struct SpoolLayout: Sendable {
    /// Bytes with their offset.
    struct Block: Sendable {
        let offset: UInt64
        let bytes: [UInt8]

        fileprivate var end: UInt64 { offset + UInt64(bytes.count) }
    }

    /// The whereabouts of some bytes.
    enum Location: Hashable, Sendable {
        /// The bytes themselves, since they are in memory.
        case memory([UInt8])
        /// So many bytes are in the file.
        case file(count: Int)
    }

    /// The change of the file that follows a cut.
    enum Cut: Hashable, Sendable {
        case none
        /// The file has nothing any more, and the spool may grow in memory again.
        case dropFile
        case truncate
    }

    /// The number of bytes altogether.
    private(set) var length: UInt64 = 0
    /// The number of bytes that were put into memory first, whether or not they were moved since.
    private(set) var memoryLength: UInt64 = 0
    /// The number of those that were moved.
    private(set) var movedLength: UInt64 = 0
    private var chunks: [Block] = []
    /// The bytes that are being moved.
    private var moving = 0
    /// The end of the bytes that are in the file behind those in memory.
    private var written: UInt64 = 0
    /// The bytes that are being written behind these.
    private var flushing: [UInt8] = []
    /// The bytes behind those, gathered because every write waits for another thread.
    private var tail: [UInt8] = []

    /// The memory of the chunks.
    var memory: Int { chunks.reduce(0) { $0 + $1.bytes.capacity } }

    /// The disk space of everything that is in the file or on its way.
    var disk: Int { Int(length - memoryLength + movedLength) + moving }

    /// Appends a chunk in memory; allowed while there is no file.
    mutating func appendToMemory(_ bytes: [UInt8]) {
        chunks.append(Block(offset: length, bytes: bytes))
        length += UInt64(bytes.count)
        (memoryLength, written) = (length, length)
    }

    /// Appends bytes for the file, and returns those to write next once there are `writeSize` of them.
    mutating func gather(_ bytes: [UInt8], writeSize: Int) -> Block? {
        if tail.isEmpty {
            tail = bytes
            if bytes.count < writeSize { tail.reserveCapacity(writeSize + bytes.count) }
        } else {
            tail += bytes
        }
        length += UInt64(bytes.count)
        return tail.count >= writeSize ? takeGathered() : nil
    }

    /// Returns the gathered bytes, which are to be written; nil if there are none.
    mutating func takeGathered() -> Block? {
        guard !tail.isEmpty else { return nil }
        (flushing, tail) = (tail, [])
        return Block(offset: written, bytes: flushing)
    }

    /// Takes note of the end of a write of gathered bytes; if it has failed, they are gathered again.
    mutating func endWrite(of block: Block, isDone: Bool) {
        flushing = []
        if isDone { written = block.end } else { tail = block.bytes }
    }

    /// Returns the first chunk in memory if it ends by `end`: it is to be written to the file.
    mutating func beginMove(upTo end: UInt64) -> Block? {
        guard let first = chunks.first, first.end <= end else { return nil }
        moving = first.bytes.count
        return first
    }

    /// Takes note of the end of a move; if it has failed, the chunk stays in memory.
    ///
    /// - Returns: The freed memory.
    mutating func endMove(of block: Block, isDone: Bool) -> Int {
        moving = 0
        guard isDone else { return 0 }
        chunks.removeFirst()
        movedLength = block.end
        return block.bytes.capacity
    }

    /// Cuts off everything behind a length; what was moved, or is being moved, may not be cut.
    mutating func cut(to length: UInt64) -> Cut {
        precondition(length <= self.length, "a spool is cut behind its end")
        precondition(length >= movedLength + UInt64(moving), "bytes that a reader needs are cut off a spool")
        self.length = length
        if length <= memoryLength {
            chunks.removeAll { $0.offset >= length }
            (memoryLength, written, tail) = (length, length, [])
            return movedLength == 0 && moving == 0 ? .dropFile : .truncate
        }
        guard length < written else {
            tail.removeLast(tail.count - Int(length - written))
            return .none
        }
        (written, tail) = (length, [])
        return .truncate
    }

    /// Returns the whereabouts of up to `count` bytes at an offset: at least one, and fewer at the end of a chunk.
    func location(of offset: UInt64, upTo count: Int) -> Location {
        precondition(offset < length && count > 0, "read behind the end of a spool")
        if offset < movedLength { return .file(count: min(count, Int(movedLength - offset))) }
        if offset < memoryLength, let chunk = chunk(holding: offset) {
            let first = Int(offset - chunk.offset)
            let last = min(first + count, chunk.bytes.count)
            let isWhole = first == 0 && last == chunk.bytes.count
            return .memory(isWhole ? chunk.bytes : Array(chunk.bytes[first..<last]))
        }
        guard offset >= written else { return .file(count: min(count, Int(written - offset))) }
        let skipped = Int(offset - written)
        guard skipped >= flushing.count else { return .memory(Array(flushing.dropFirst(skipped).prefix(count))) }
        return .memory(Array(tail.dropFirst(skipped - flushing.count).prefix(count)))
    }

    /// Returns true if the byte at an offset is in a chunk in memory.
    func isInMemory(_ offset: UInt64) -> Bool { offset >= movedLength && offset < memoryLength }

    private func chunk(holding offset: UInt64) -> Block? {
        var low = 0
        var high = chunks.count
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? chunks[low - 1] : nil
    }
}
