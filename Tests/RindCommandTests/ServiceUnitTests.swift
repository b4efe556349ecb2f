// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayConfig
import Testing

/// `examples/systemd`: the unit and the configuration that goes with it.
@Suite struct ServiceUnitTests {
    private static let verifier = "/usr/bin/systemd-analyze"

    private static func values(of key: String) throws -> [String] {
        try Place.text("examples/systemd/rind.service").split(separator: "\n")
            .filter { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.count + 1)) }
    }

    @Test func `what the service writes lies in the directories that the unit makes`() throws {
        let text = try Place.text("examples/systemd/rind.ini")
        let configuration = try Configuration.load(text, environment: SchemaUpdateTests.key)
        let directories = try Self.values(of: "StateDirectory")[0].split(separator: " ").map { "/var/lib/\($0)" }
        #expect(directories.contains(configuration.spool.dir ?? ""))
        #expect(text.contains("url = sqlite:\(directories[0])/rind-state.db"))
        #expect(try Self.values(of: "ProtectSystem") == ["strict"])
        #expect(text.contains("key = @file:/etc/rind/identity.key"))
    }

    @Test func `the unit gives a service longer to stop than the gateway's grace`() throws {
        let text = try Place.text("examples/systemd/rind.ini")
        let configuration = try Configuration.load(text, environment: SchemaUpdateTests.key)
        let timeout = try #require(Self.values(of: "TimeoutStopSec").first.flatMap { Int($0) })
        #expect(configuration.gateway.shutdownGrace < .seconds(timeout))
        #expect(try Self.values(of: "LimitNOFILE") == ["65536"])
    }

    @Test func `a reload checks the configuration before the gateway reads it`() throws {
        #expect(
            try Self.values(of: "ExecReload") == [
                "/usr/local/bin/rind check --config /etc/rind/rind.ini", "/bin/kill -HUP $MAINPID",
            ])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: verifier), "systemd-analyze is not installed"))
    func `systemd has nothing to say about the unit`() async throws {
        try await Place.withDirectory { directory in
            let unit = directory.appending(path: "rind.service")
            let said = directory.appending(path: "said")
            try Place.text("examples/systemd/rind.service")
                .replacing("/usr/local/bin/rind", with: RunningCommand.executable)
                .write(to: unit, atomically: true, encoding: .utf8)
            try Data().write(to: said)
            let process = Process()
            process.executableURL = URL(filePath: Self.verifier)
            process.arguments = ["verify", "--man=no", unit.path(percentEncoded: false)]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = try FileHandle(forWritingTo: said)
            try process.run()
            while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
            let text = try String(contentsOf: said, encoding: .utf8)
            #expect(process.terminationStatus == 0 && !text.contains("rind.service"), "\(text)")
        }
    }
}
