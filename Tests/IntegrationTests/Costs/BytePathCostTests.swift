// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOPosix
import Testing

#if arch(x86_64)
/// The byte path costs what it did, in instructions: no clock is read, so a busy machine counts the same.
///
/// The lines are those of `rind-count`: 2,000, of 660 bytes and 20 members, of which 8 become columns. Their cost is the
/// difference between a run with three passes and one with a single pass, so that the start and the making of the lines
/// do not count.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: InstructionCount.isPossible, "make costs counts, with valgrind"))
struct BytePathCostTests {
    private static let lines = 2_000

    @Test(arguments: [
        ("projection", CostLimits.projection), ("conversion", CostLimits.conversion), ("answer", CostLimits.answer),
    ])
    func `a line takes as few instructions as it did`(_ stage: String, _ limit: CostLimit) async throws {
        // The wait for another program would keep a thread from other tests.
        let instructions = try await NIOThreadPool.singleton.runIfActive {
            try InstructionCount.of(stage, "3") - InstructionCount.of(stage, "1")
        }
        limit.check(Double(instructions) / Double(2 * Self.lines))
    }
}
#endif
