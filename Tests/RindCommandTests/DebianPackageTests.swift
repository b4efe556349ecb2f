// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `examples/debian`: a package that is made, installed, started, upgraded, removed and purged, in a copy of the system.
@Suite struct DebianPackageTests {
    private static func place(_ name: String) -> String {
        Place.root.appending(path: "examples/debian/\(name)").path(percentEncoded: false)
    }

    /// The reason why there can be no copy of the system here; nil if there can.
    private static let obstacle: String? = {
        if geteuid() != 0 { return "only root can mount a copy of the system" }
        if run("/usr/bin/dpkg-shlibdeps", ["--version"]).status != 0 { return "dpkg-dev is not installed" }
        let mounts = run("/usr/bin/unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        return mounts.status == 0 ? nil : "this system does not let root mount: \(mounts.output)"
    }()

    private static func run(_ program: String, _ arguments: [String]) -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        guard (try? process.run()) != nil else { return (127, "'\(program)' cannot be run") }
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    @Test(.enabled(if: obstacle == nil, "\(obstacle ?? "")"))
    func `the package is installed, started, upgraded, removed and purged`() async throws {
        try await Place.withDirectory { directory in
            let packages = try [1, 2].map { revision in
                let made = Self.run(
                    Self.place("build-package"),
                    [
                        "--fast", "--binary", RunningCommand.executable, "--revision", "\(revision)",
                        directory.path(percentEncoded: false),
                    ])
                try #require(made.status == 0, "\(made.output)")
                return made.output.trimmingCharacters(in: .newlines)
            }
            let tried = Self.run(Self.place("try-package"), packages)
            #expect(tried.status == 0 && tried.output.hasSuffix("== all steps hold\n"), "\(tried.output)")
        }
    }

    @Test func `a program that needs Swift's libraries is not packed`() {
        let made = Self.run(
            Self.place("build-package"), ["--binary", RunningCommand.executable, "/nowhere/at/all"])
        #expect(made.status == 1)
        #expect(made.output.contains("--static-swift-stdlib") || made.output.contains("apt-get install dpkg-dev"))
    }
}
