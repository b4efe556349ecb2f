// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The file in which a preloaded library counts the allocations of another program.
struct AllocationCounter {
    private let file: URL
    private static let library = GatewayProcess.program.deletingLastPathComponent()
        .appending(path: "libAllocationCount.so")

    /// Makes the file, which the program must be able to map.
    init(in directory: String) throws {
        file = URL(filePath: directory).appending(path: "allocations")
        try Data(count: MemoryLayout<UInt64>.size).write(to: file)
    }

    /// What makes a program count, in its environment.
    var variables: [String: String] { ["LD_PRELOAD": Self.library.path, "ALLOCATION_COUNT": file.path] }

    /// How many allocations there were so far.
    var count: Int {
        get throws {
            try Data(contentsOf: file).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        }
    }
}
