// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOConcurrencyHelpers

/// Tells which disks of a world are full.
final class WorldDisk: Sendable {
    /// The purpose of a disk.
    enum Use: String, Sendable { case state, spools }

    private let full = NIOLockedValueBox<Use?>(nil)

    /// Fills one disk, or makes room on all.
    func fill(_ use: Use?) { full.withLockedValue { $0 = use } }

    func isFull(for use: Use) -> Bool { full.withLockedValue { $0 == use } }
}

/// Keeps what spools have no memory for, in memory.
final class WorldFiles: SpoolFiles {
    private let life: GatewayLife
    private let disk: WorldDisk

    init(life: GatewayLife, disk: WorldDisk) {
        self.life = life
        self.disk = disk
    }

    func open() async throws(SpoolError) -> any SpoolFile {
        await Task.yield()
        guard !life.isDead else { throw .cancelled }
        return File(disk: disk)
    }

    private final class File: SpoolFile {
        private let bytes = NIOLockedValueBox<[UInt8]>([])
        private let disk: WorldDisk

        init(disk: WorldDisk) { self.disk = disk }

        func write(_ new: [UInt8], at offset: UInt64) async throws(SpoolError) {
            await Task.yield()
            guard !disk.isFull(for: .spools) else { throw .diskFull }
            bytes.withLockedValue { bytes in
                let end = Int(offset) + new.count
                if bytes.count < end { bytes += Array(repeating: 0, count: end - bytes.count) }
                bytes.replaceSubrange(Int(offset)..<end, with: new)
            }
        }

        func truncate(to length: UInt64) async throws(SpoolError) {
            bytes.withLockedValue { $0.removeLast(max(0, $0.count - Int(length))) }
        }

        func read(count: Int, at offset: UInt64) async throws(SpoolError) -> [UInt8] {
            await Task.yield()
            return bytes.withLockedValue { Array($0[Int(offset)..<Int(offset) + count]) }
        }
    }
}
