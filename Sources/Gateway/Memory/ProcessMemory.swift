// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CMalloc
import Foundation
package import Logging
import NIOPosix
package import SyncModel

/// The memory of this process, as the system and the allocator report it.
package struct ProcessMemory: Hashable, Sendable {
    /// The number of resident bytes.
    package let resident: Int
    /// The number of bytes that are allocated and not freed.
    package let inUse: Int

    /// The time between two checks, in seconds.
    private static let interval: Int64 = 15

    /// The present figures; nil if the system or the allocator does not provide them.
    package static var now: ProcessMemory? {
        #if os(Linux) && canImport(Glibc)
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        // The type says that the function is meant, and not the structure of the same name with all its members zero.
        let ask: @convention(c) () -> mallinfo2 = mallinfo2
        let heap = ask()
        let resident = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        return ProcessMemory(resident: resident, inUse: Int(heap.uordblks + heap.hblkhd))
        #else
        return nil
        #endif
    }

    /// Gives free memory back to the system; takes a moment for each gigabyte, during which others wait for the
    /// allocator.
    package static func trim() {
        #if os(Linux) && canImport(Glibc)
        malloc_trim(0)
        #endif
    }

    /// Gives back the remains of peaks, until it is cancelled.
    package static func giveBackAfterPeaks(clock: any WallClock, logger: Logger) async {
        var trim = MemoryTrim()
        while !Task.isCancelled {
            do {
                trim = try await NIOThreadPool.singleton.runIfActive { [trim] in step(trim, logger) }
                try await clock.sleep(milliseconds: Int64(interval) * 1_000)
            } catch { return }
        }
    }

    private static func step(_ trim: MemoryTrim, _ logger: Logger) -> MemoryTrim {
        var trim = trim
        guard let before = now, trim.isDue(resident: before.resident, inUse: before.inUse) else { return trim }
        self.trim()
        guard let after = now else { return trim }
        trim.done(resident: after.resident, inUse: after.inUse)
        logger.debug(
            "memory was given back to the system",
            metadata: ["before": "\(before.resident)", "after": "\(after.resident)"])
        return trim
    }
}
