// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Finds the programs that are compared.
enum Tools {
    /// The path of this program.
    static var own: String { Bundle.main.executablePath ?? CommandLine.arguments[0] }

    /// The gateway that was built along with this program.
    static var rind: String? {
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("rind").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    /// Finds a program of the system, even if it is only on the administrator's path.
    static func find(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Returns the first line that a program prints about itself; nginx prints it to standard error.
    static func version(_ path: String, _ argument: String) -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [argument]
        process.standardOutput = pipe
        process.standardError = pipe
        guard (try? process.run()) != nil else { return "unknown" }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").first.map(String.init) ?? "unknown"
    }

    /// Returns true if a program ends without an error.
    static func succeeds(_ path: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
