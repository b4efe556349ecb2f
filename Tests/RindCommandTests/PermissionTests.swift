// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `rind check` says of files that exist and that its user may not use.
@Suite(
    .enabled(
        if: geteuid() != 0 || FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"),
        "root may read everything, and setpriv is missing"))
struct PermissionTests {
    private static let user = "the user '\(NSUserName())' (uid \(geteuid()))"

    /// Runs the command without root's right to pass over permissions.
    private static func run(
        _ arguments: [String], _ environment: [String: String] = [:], directory: URL? = nil
    ) async throws -> Finished {
        guard geteuid() == 0 else {
            return try await RunningCommand.run(arguments, environment: environment, directory: directory)
        }
        return try await RunningCommand.run(
            ["--bounding-set=-dac_override,-dac_read_search", RunningCommand.executable] + arguments,
            program: "/usr/bin/setpriv", environment: environment, directory: directory
        )
    }

    /// A directory with a configuration in it; nobody may enter it, or do more than `permissions` say, while the body runs.
    private static func withClosedDirectory(
        _ permissions: Int = 0, _ body: (URL) async throws -> Void
    ) async throws {
        try await Place.withDirectory { outer in
            let directory = outer.appending(path: "closed")
            let path = directory.path(percentEncoded: false)
            let files = FileManager.default
            try files.createDirectory(at: directory.appending(path: "spool"), withIntermediateDirectories: true)
            try files.copyItem(atPath: Place.quickstart, toPath: path + "/rind.ini")
            try files.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
            defer { try? files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path) }
            try await body(directory)
        }
    }

    @Test func `a configuration below a directory that may not be entered is not said to be missing`() async throws {
        try await Self.withClosedDirectory { directory in
            let (path, outer) = (directory.path(percentEncoded: false), directory.deletingLastPathComponent())
            let link = outer.appending(path: "link.ini").path(percentEncoded: false)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path + "/rind.ini")
            for name in [path + "/rind.ini", "closed/rind.ini", link] {
                let result = try await Self.run(["check", "--config", name], directory: outer)
                #expect(result.status == 78)
                let said = "cannot read the file: permission denied: \(Self.user) may not enter \(path)"
                #expect(result.error.contains(said), "\(name): \(result.error)")
            }
        }
    }

    @Test func `a configuration that may not be read is not said to be missing`() async throws {
        try await Place.withDirectory { directory in
            let path = directory.appending(path: "rind.ini").path(percentEncoded: false)
            try FileManager.default.copyItem(atPath: Place.quickstart, toPath: path)
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
            let result = try await Self.run(["check", "--config", path])
            #expect(result.error.contains("permission denied: \(Self.user) may not read it"), "\(result)")
        }
    }

    @Test func `state and spool below a directory that may not be entered are not said to be missing`() async throws {
        try await Self.withClosedDirectory { directory in
            let path = directory.path(percentEncoded: false)
            let result = try await Self.run(
                ["check", "--config", Place.quickstart, "--connect"],
                [
                    "RIND_BACKEND_URL": "http://127.0.0.1:1", "RIND_STATE_URL": "sqlite:\(path)/rind.db",
                    "RIND_SPOOL_DIR": path + "/spool",
                ])
            let nobody = "\(Self.user) may not enter \(path)"
            #expect(result.status == 1)
            #expect(
                result.out.contains("the spool's directory \(path)/spool cannot be reached: \(nobody)"), "\(result.out)"
            )
            #expect(result.out.contains(#/wrong +state +.*permission denied/#), "\(result.out)")
            #expect(result.out.contains("= hint: \(nobody)"), "\(result.out)")
        }
    }

    @Test(arguments: [
        (["serve"], "RIND_STATE_URL", "sqlite:DIR/rind.db", 0, "may not enter DIR"),
        (["serve"], "RIND_STATE_URL", "sqlite:DIR/rind.db", 0o500, "may not write in DIR"),
        (["serve"], "RIND_SPOOL_DIR", "DIR/spool", 0, "may not enter DIR"),
        (["replicas", "list"], "RIND_STATE_URL", "sqlite:DIR/rind.db", 0, "may not enter DIR"),
    ])
    func `a command that cannot open state or spool says which user may not do what`(
        _ command: [String], _ variable: String, _ value: String, _ permissions: Int, _ said: String
    ) async throws {
        try await Self.withClosedDirectory(permissions) { directory in
            let path = directory.path(percentEncoded: false)
            let result = try await Self.run(
                command + ["--config", Place.quickstart], [variable: value.replacing("DIR", with: path)])
            #expect(result.status == 73)
            let user = Self.user.prefix(1).uppercased() + Self.user.dropFirst()
            let sentences = [user, Self.user].map { "\($0) \(said.replacing("DIR", with: path))" }
            #expect(sentences.contains { result.error.contains($0) }, "\(result.error)")
        }
    }
}
