// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import Testing

/// Whoever installs Rind by a list of packages gets all that it is linked to and built with.
struct PackageListTests {
    /// The Debian packages of the libraries that Rind may be linked to, besides the C library and those of Swift.
    private static let packages = [
        "libcurl.so.4": "libcurl4", "libgcc_s.so.1": "libgcc-s1", "libpq.so.5": "libpq5",
        "libsqlite3.so.0": "libsqlite3-0", "libstdc++.so.6": "libstdc++6", "libz.so.1": "zlib1g",
    ]

    private static func text(_ path: String) throws -> String {
        let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the words that follow a text, up to the end of the list that begins there.
    private static func words(after start: String, in text: String) throws -> Set<String> {
        let begin = try #require(text.firstRange(of: start)).upperBound
        let list = text[begin...].replacing("\\\n", with: " ").prefix { $0 != "\n" && $0 != "&" }
        return Set(list.split(separator: " ").map(String.init).filter { !$0.hasPrefix("--") })
    }

    /// The names of the libraries that the built program asks the system for.
    private static func needed() throws -> [String] {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["objdump", "-p", RunningCommand.executable]
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.first == "NEEDED" ? words.last.map(String.init) : nil
        }
    }

    @Test(.disabled(if: TestRun.isSanitized, "a sanitizer needs libraries of its own"))
    func `the packages to install are those of the libraries that the program needs`() throws {
        let others = [
            "libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime", "libc.so", "libm.so",
            "ld-linux",
        ]
        let foreign = try Self.needed().filter { name in
            !others.contains { name.hasPrefix($0) }
        }
        try #require(foreign.contains("libcurl.so.4"), "\(foreign)")
        for library in foreign { #expect(Self.packages[library] != nil, "a new library: \(library)") }
        let wanted = Set(Self.packages.values).union(["ca-certificates"])
        let page = try Self.text("docs/OPERATIONS.md")
        #expect(try Self.words(after: "apt-get install ca-certificates", in: page).union(["ca-certificates"]) == wanted)
        let image = try Self.text("examples/docker/Dockerfile")
        let last = try #require(image.components(separatedBy: "\nFROM ").last)
        // Curl is for the health check.
        #expect(try Self.words(after: "apt-get install", in: last) == wanted.union(["curl"]))
    }

    @Test func `an image is built with the packages that the set-up installs`() throws {
        let setup = try Self.text(".ci/setup")
        let always = setup.split(separator: "\n").filter { $0.contains("|| echo ") && !$0.contains("CI:-") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
        // The official image of Swift has the others.
        let present: Set = ["libc6-dev", "g++", "binutils", "git"]
        let image = try Self.text("examples/docker/Dockerfile")
        #expect(try Self.words(after: "apt-get install", in: image) == Set(always).subtracting(present))
    }
}
