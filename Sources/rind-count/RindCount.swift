// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs the byte path so that its instructions can be counted: `rind-count STAGE PASSES`.
///
/// The difference of two runs of one stage is the cost of its passes alone, without that of making the stream. The
/// program stands on the pure targets only, so that an optimised build takes little time.
@main
struct RindCount {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let stage = CountedPath.Stage(rawValue: arguments[1]),
            let passes = Int(arguments[2]), passes > 0
        else {
            let stages = CountedPath.Stage.allCases.map(\.rawValue).joined(separator: "|")
            print("usage: rind-count \(stages) PASSES")
            exit(EX_USAGE)
        }
        let path = CountedPath(stage)
        for _ in 0..<passes {
            let records = try await path.run(to: stage)
            precondition(records == CountedStream.lines, "the path came to \(records) records: fewer than lines")
        }
        print(CountedStream.lines)
    }
}
