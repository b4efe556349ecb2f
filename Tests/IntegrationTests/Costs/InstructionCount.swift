// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting

/// The instructions that a program runs, counted by valgrind: the same number on every machine of an architecture.
struct InstructionCount {
    /// Why there is no count.
    enum Failure: Error {
        case notInstalled
        case noCount(Int32, String)
    }

    private static let paths = ["/usr/bin/valgrind", "/usr/local/bin/valgrind"]
    private static var valgrind: String? { paths.first { FileManager.default.isExecutableFile(atPath: $0) } }
    private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// The optimised build of the program whose instructions are counted.
    static let program = root.appending(path: ".build/release/rind-count")

    /// Whether there is something to count here; where `.ci/run` has built it, there must be.
    static var isPossible: Bool {
        TestRun.mustCount || (valgrind != nil && isBuilt)
    }

    /// Whether the program was built since the sources that it is made of were changed.
    private static var isBuilt: Bool {
        guard let built = date(of: program) else { return false }
        return ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncModel", "rind-count"].allSatisfy {
            name in
            let files = FileManager.default.enumerator(
                at: root.appending(path: "Sources/\(name)"), includingPropertiesForKeys: nil)
            return files?.allSatisfy { date(of: $0 as? URL ?? root).map { $0 <= built } ?? true } ?? false
        }
    }

    private static func date(of file: URL) -> Date? {
        try? file.resolvingSymlinksInPath().resourceValues(forKeys: [.contentModificationDateKey])
            .contentModificationDate
    }

    /// Runs the program under valgrind and returns how many instructions that took.
    static func of(_ arguments: String...) throws -> Int {
        guard let valgrind else { throw Failure.notInstalled }
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(filePath: valgrind)
        process.arguments = ["--tool=callgrind", "--callgrind-out-file=/dev/null", program.path] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let mark = said.firstRange(of: "Collected : "),
            let count = Int(said[mark.upperBound...].prefix(while: \.isNumber))
        else { throw Failure.noCount(process.terminationStatus, said) }
        return count
    }
}
