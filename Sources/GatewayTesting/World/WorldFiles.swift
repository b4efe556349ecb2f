// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import NIOConcurrencyHelpers

/// Keeps what spools have no memory for, in memory; a disk that fills is a number.
final class WorldFiles: SpoolFiles {
    private let life: GatewayLife
    private let isFull = NIOLockedValueBox(false)

    init(life: GatewayLife) { self.life = life }

    /// Whether writes find no room.
    func fill(_ isFull: Bool) { self.isFull.withLockedValue { $0 = isFull } }

    func open() async throws(SpoolError) -> any SpoolFile {
        await Task.yield()
        guard !life.isDead else { throw .cancelled }
        return File(isFull: isFull)
    }

    private final class File: SpoolFile {
        private let bytes = NIOLockedValueBox<[UInt8]>([])
        private let isFull: NIOLockedValueBox<Bool>

        init(isFull: NIOLockedValueBox<Bool>) { self.isFull = isFull }

        func write(_ new: [UInt8], at offset: UInt64) async throws(SpoolError) {
            await Task.yield()
            guard !isFull.withLockedValue({ $0 }) else { throw .diskFull }
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
