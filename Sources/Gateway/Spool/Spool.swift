// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Holds bytes until it is certain that they may be sent: in memory up to a limit, in a nameless file beyond it.
///
/// Only one task at a time may append. Others may meanwhile read what was there before, and move it to the file; bytes
/// that are being read are never cut off.
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
        var layout = SpoolLayout()
        var file: (any SpoolFile)?
        /// True while a task moves bytes to the file.
        var isMoving = false
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
    var length: UInt64 { state.withLockedValue { $0.layout.length } }

    /// The number of bytes in memory.
    var memoryLength: UInt64 { state.withLockedValue { $0.layout.memoryLength - $0.layout.movedLength } }

    /// Returns true if the byte at an offset is in memory, and not because it is on its way to the file.
    func isInMemory(_ offset: UInt64) -> Bool { state.withLockedValue { $0.layout.isInMemory(offset) } }

    /// Appends bytes and returns their offset.
    ///
    /// - Throws: ``SpoolError``; ``SpoolError/exhausted`` if other spools hold too much at the moment.
    @discardableResult
    func append(_ bytes: [UInt8]) async throws(SpoolError) -> UInt64 {
        let (offset, fits) = state.withLockedValue { state in
            let fits = state.file == nil && Int(state.layout.length) + bytes.count <= limits.memory
            return (state.layout.length, fits)
        }
        guard Int(offset) + bytes.count <= limits.total else { throw .tooLarge }
        // If other spools hold the memory, the bytes go to the file earlier.
        if fits, lease.takeForLines(bytes.capacity) {
            let isAppended = state.withLockedValue { state in
                guard state.file == nil else { return false }
                state.layout.appendToMemory(bytes)
                return true
            }
            if isAppended { return offset }
            lease.giveBack(memory: bytes.capacity)
        }
        try takeDisk(bytes.count)
        let file = try await openFile()
        guard let full = state.withLockedValue({ $0.layout.gather(bytes, writeSize: writeSize) }) else { return offset }
        try await write(full, to: file)
        return offset
    }

    /// Writes the bytes that were gathered for the file, so that an idle spool takes no memory for them.
    func flush() async throws(SpoolError) {
        let rest = state.withLockedValue { state in
            state.file.flatMap { file in state.layout.takeGathered().map { (file: file, block: $0) } }
        }
        if let rest { try await write(rest.block, to: rest.file) }
    }

    /// Moves what is in memory to the file, chunk by chunk, up to a length that no cut goes below.
    ///
    /// If another task does so already, it returns at once.
    ///
    /// - Throws: ``SpoolError``; what was not moved is still in memory then.
    func moveToFile(upTo length: UInt64) async throws(SpoolError) {
        let begins = state.withLockedValue { state in
            defer { state.isMoving = true }
            return !state.isMoving
        }
        guard begins else { return }
        defer { state.withLockedValue { $0.isMoving = false } }
        while let block = state.withLockedValue({ $0.layout.beginMove(upTo: length) }) {
            var isDone = false
            defer {
                state.withLockedValue {
                    lease.giveBack(memory: $0.layout.endMove(of: block, isDone: isDone))
                }
            }
            try takeDisk(block.bytes.count)
            do {
                try await openFile().write(block.bytes, at: block.offset)
            } catch {
                lease.giveBack(disk: block.bytes.count)
                throw error
            }
            isDone = true
        }
    }

    private func takeDisk(_ count: Int) throws(SpoolError) {
        guard !lease.takeDisk(count) else { return }
        // Bytes that can never fit are not worth another attempt.
        throw lease.held.disk + count > lease.mostOnDisk ? .tooLarge : .exhausted
    }

    /// Returns the file; two tasks may need one at the same time, and both get the same.
    private func openFile() async throws(SpoolError) -> any SpoolFile {
        if let file = state.withLockedValue({ $0.file }) { return file }
        let new = try await limits.files.open()
        return state.withLockedValue { state in
            let file = state.file ?? new
            state.file = file
            return file
        }
    }

    private func write(_ block: SpoolLayout.Block, to file: any SpoolFile) async throws(SpoolError) {
        do {
            try await file.write(block.bytes, at: block.offset)
        } catch {
            // Bytes that were appended before must still be there after a cut.
            state.withLockedValue { $0.layout.endWrite(of: block, isDone: false) }
            throw error
        }
        state.withLockedValue { $0.layout.endWrite(of: block, isDone: true) }
    }

    /// Cuts off everything after a length at which an append began; allowed after a failed append, too.
    func cut(to length: UInt64) async throws(SpoolError) {
        let file = state.withLockedValue { state -> (any SpoolFile)? in
            let cut = state.layout.cut(to: length)
            // Under the lock, because a move changes both as well.
            lease.keep(memory: state.layout.memory, disk: state.layout.disk)
            switch cut {
            case .none: return nil
            case .dropFile:
                // Without its file, the spool may grow in memory again.
                state.file = nil
                return nil
            case .truncate: return state.file
            }
        }
        try await file?.truncate(to: length)
    }

    /// Reads up to `count` bytes at an offset: at least one, and fewer than `count` at the end of a chunk.
    func read(at offset: UInt64, upTo count: Int) async throws(SpoolError) -> [UInt8] {
        let (location, file) = state.withLockedValue { ($0.layout.location(of: offset, upTo: count), $0.file) }
        switch location {
        case .memory(let bytes): return bytes
        case .file(let count): return try await file?.read(count: count, at: offset) ?? []
        }
    }
}
